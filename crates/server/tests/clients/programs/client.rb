# mysql2, by TLS: arguments are the port, root's password and the authority's certificate.
require "mysql2"
c = Mysql2::Client.new(host: "127.0.0.1", port: ARGV[0].to_i, username: "root", password: ARGV[1], database: "test", ssl_mode: :required, sslca: ARGV[2])
raise "consumers" unless c.query("SELECT * FROM performance_schema.setup_consumers").count > 10
raise "prepared" unless c.prepare("SELECT ? + 1 AS x").execute(41).first["x"] == 42
raise "types" unless c.query("SELECT CAST(1.5 AS DECIMAL(5,2)) d, NULL n").first == { "d" => 1.5, "n" => nil }
begin
  c.query("selec")
  raise "no error"
rescue Mysql2::Error => e
  raise "error" unless [e.error_number, e.sql_state] == [1064, "42000"]
end
raise "ping" unless c.ping
puts "fine"
