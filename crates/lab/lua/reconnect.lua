-- A point select, and a connection of its own for each: what connecting costs.
--
-- sysbench 1.0 keeps its connections; this script opens one for every event. It uses the tables of the oltp scripts.

sysbench.cmdline.options = {
   tables = {"Number of tables", 1},
   table_size = {"Number of rows in each table", 10000},
}

function thread_init()
   driver = sysbench.sql.driver()
end

function event()
   local connection = driver:connect()
   local t = sysbench.rand.uniform(1, sysbench.opt.tables)
   local id = sysbench.rand.uniform(1, sysbench.opt.table_size)
   connection:query(string.format("SELECT c FROM sbtest%d WHERE id = %d", t, id))
   connection:disconnect()
end
