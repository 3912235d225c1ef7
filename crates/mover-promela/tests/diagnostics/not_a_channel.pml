byte q;
active proctype p() { q!1; q?_; len(q) > 0; nfull(q) }
