"""Connects with PyMySQL and both kinds of mysql-connector to each socket, prints the connections' numbers, and
waits until its input ends."""

import sys

import mysql.connector
import pymysql

OWN = {"program_name": "a program", "empty": ""}
# The pure kind sends at most 255 bytes of attributes.
LARGE = {"n" * 32: "v" * 1024, "behind": "it"}


def connections(socket):
    yield pymysql.connect(unix_socket=socket, user="root", program_name="a program")
    for attributes, use_pure in ((OWN, True), (OWN | LARGE, False)):
        yield mysql.connector.connect(
            unix_socket=socket,
            user="root",
            conn_attrs=attributes,
            use_pure=use_pure,
            ssl_disabled=True,
        )


# The first connection of the C library in a process sends others.
for first in connections(sys.argv[1]):
    first.close()
held = []
for path in sys.argv[1:]:
    for connection in connections(path):
        held.append(connection)
        cursor = connection.cursor()
        cursor.execute("SELECT CONNECTION_ID()")
        print(cursor.fetchone()[0], flush=True)
sys.stdin.read()
