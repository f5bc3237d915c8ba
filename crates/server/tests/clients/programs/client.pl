# DBD::mysql and DBD::MariaDB, by TLS: arguments are the driver, the port, root's password and the
# authority's certificate.
use strict;
use warnings;
use DBI;
my ($driver, $port, $password, $ca) = @ARGV;
my $tls = lc($driver) . "_ssl=1;" . lc($driver) . "_ssl_ca_file=$ca";
# Debian's DBD::mysql knows no other way to say it; the server demands TLS.
$tls .= ";mysql_ssl_optional=1" if $driver eq "mysql";
my $h = DBI->connect("DBI:$driver:database=test;host=127.0.0.1;port=$port;$tls", "root", $password, { RaiseError => 1, PrintError => 0 });
$h->do("DROP TABLE IF EXISTS perl");
$h->do("CREATE TABLE perl (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(9), INDEX (s))");
$h->do("INSERT INTO perl (s) VALUES (?)", undef, "it's");
die "id" unless $h->last_insert_id(undef, undef, "perl", "id") == 1;
die "row" unless $h->selectcol_arrayref("SELECT s FROM perl")->[0] eq "it's";
die "table" unless @{ $h->table_info(undef, undef, "perl")->fetchall_arrayref } == 1;
die "columns" unless @{ $h->column_info(undef, "test", "perl", "%")->fetchall_arrayref } == 2;
die "key" unless join(",", $h->primary_key(undef, "test", "perl")) eq "id";
$h->{AutoCommit} = 0;
$h->do("DELETE FROM perl");
$h->rollback;
die "rollback" unless $h->selectrow_array("SELECT COUNT(*) FROM perl") == 1;
die "ping" unless $h->ping;
print "fine\n";
