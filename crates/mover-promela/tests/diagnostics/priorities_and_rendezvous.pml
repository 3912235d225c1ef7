chan q = [0] of { byte };
active proctype p() priority 300 { q!1 }
