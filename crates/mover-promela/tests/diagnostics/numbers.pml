int x = 4294967295;
active proctype p() { x = 99999999999999999999; x = 'ab'; x = '\n' }
