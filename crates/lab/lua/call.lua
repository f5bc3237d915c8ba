-- A procedure of the server's, called again and again: the recipe makes it.
--
--   sysbench call.lua --call='measure.work(500)' ...

sysbench.cmdline.options = {
   call = {"The procedure with its arguments", "measure.work(500)"},
   tables = {"Not used", 1},
   table_size = {"Not used", 1}
}

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function event()
   connection:query("CALL " .. sysbench.opt.call)
end

function thread_done()
   connection:disconnect()
end
