-- A load of short sessions: each event connects, asks for one row, and leaves.

sysbench.cmdline.options = {
    tables = {"Number of tables", 1},
    table_size = {"Number of rows in each", 10000},
}

function thread_init()
    driver = sysbench.sql.driver()
end

function event()
    local connection = driver:connect()
    local table_number = sysbench.rand.uniform(1, sysbench.opt.tables)
    local id = sysbench.rand.uniform(1, sysbench.opt.table_size)
    connection:query(string.format("SELECT c FROM sbtest%d WHERE id = %d", table_number, id))
    connection:disconnect()
end
