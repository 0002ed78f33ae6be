-- samples with the frames of their stacks
-- time_ns: when, since the recording's start
-- event: what took it
-- thread_id: the thread
-- weight: how many samples it counts as
-- stack_id: the stack
-- depth: 0: the innermost frame
-- function: the function or method
-- line: line in its source file, if it is known
-- kind: how it ran: C2, C1, inlined, interpreted, stub, native, kernel, ...
SELECT s.time_ns, s.event, s.thread_id, s.weight, s.stack_id, f.depth, f.function, f.line, f.kind
FROM samples AS s
JOIN frames AS f ON f.stack_id = s.stack_id
