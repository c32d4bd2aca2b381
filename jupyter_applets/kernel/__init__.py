"""The kernel's end: where it runs, its link to a host, calls that block or await, and callbacks of the user's.

place        the session, the kernel's id, and the server, from the environment
callbacks    the user's functions, run where their output shows
waiting      a call's reply, waited for by blocking or awaiting
cells        what a call may do while a cell runs, where the host is inside the kernel
local        the host inside the kernel, where there is no server to reach
acting       which turn of an agent the running code belongs to
displaying   what an agent displays
context      what an agent is handed with a prompt
answering    one turn that the agent is at
agents       who answers in this kernel: @agent
openai       an LLM as an agent
connection   one per process: which link serves which window
toolbox      app_query, app_command, …
"""
