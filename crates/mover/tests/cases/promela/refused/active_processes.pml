// expect: error P030
// message: active_processes.pml:4
// message: 255 processes
active [300] proctype P() { skip }
