"""Logs in with PyMySQL or mysql-connector-python: LIBRARY PORT CA PASSWORD."""
import sys

library, port, ca, password = sys.argv[1:]
to = {"host": "127.0.0.1", "port": int(port)}

if library == "pymysql":
    import pymysql as client

    tls = {"ssl_ca": ca, "ssl_verify_cert": True, "ssl_verify_identity": True}
else:
    import mysql.connector as client

    to["use_pure"] = library == "pure"
    tls = {"ssl_ca": ca, "ssl_verify_cert": True, "ssl_verify_identity": True}
plain = {"ssl_disabled": True}


def logs_in(user, how, given=password):
    """The cipher of a connection."""
    connection = client.connect(user=user, password=given, **to, **how)
    cursor = connection.cursor()
    cursor.execute("SELECT CURRENT_USER()")
    who = cursor.fetchone()[0]
    assert who == f"{user}@%", who
    cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
    cipher = cursor.fetchone()[1]
    connection.close()
    return cipher


def is_refused(user, how, given, words):
    try:
        logs_in(user, how, given)
    except client.Error as error:
        assert any(word in str(error) for word in words), str(error)
    else:
        raise AssertionError(f"{user} is let in")


# Nobody has proved the password yet: it goes over no open wire.
is_refused(f"sha2_{library}", plain, password, ["Connect with TLS"])
is_refused(f"sha2_{library}", tls, "wrong", ["1045"])
assert logs_in(f"sha2_{library}", tls).startswith("TLS_")
assert logs_in(f"sha2_{library}", plain) == "", "the server knows the client again"
is_refused(f"native_{library}", plain, "wrong", ["1045"])
assert logs_in(f"native_{library}", plain) == ""
assert logs_in(f"native_{library}", tls).startswith("TLS_")
print("fine")
