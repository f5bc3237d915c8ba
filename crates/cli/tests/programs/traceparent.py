"""Runs a long statement on each of several connections to a socket, with the trace of the second argument given in
different ways, with both kinds of mysql-connector. Prints for each a name and the connection's number, and waits until
its input ends."""

import os
import sys
import threading

import mysql.connector

SOCKET, TRACEPARENT, OTHER = sys.argv[1:]
LONG = "SELECT SLEEP(600)"


def connect(use_pure):
    return mysql.connector.connect(unix_socket=SOCKET, user="root", use_pure=use_pure, ssl_disabled=True)


def attribute(connection):
    cursor = connection.cursor()
    cursor.add_attribute("page", "/cart")
    cursor.add_attribute("traceparent", TRACEPARENT)
    return cursor, LONG, ()


def prepared(connection):
    cursor = connection.cursor(prepared=True)
    cursor.add_attribute("traceparent", TRACEPARENT)
    return cursor, "SELECT SLEEP(?)", (600,)


def comment(connection):
    cursor = connection.cursor()
    cursor.add_attribute("traceparent", OTHER)
    return cursor, f"{LONG} /*traceparent='{TRACEPARENT}'*/", ()


def run(connection, *statements):
    cursor = connection.cursor()
    for statement in statements:
        cursor.execute(statement)
        cursor.fetchall()
    return cursor


def variable(connection):
    return run(connection, f"SET @traceparent = '{TRACEPARENT}'"), LONG, ()


def before(connection):
    """The attribute is of the statement before."""
    cursor = connection.cursor()
    cursor.add_attribute("traceparent", OTHER)
    cursor.execute("SELECT 1")
    cursor.fetchall()
    cursor.clear_attributes()
    return cursor, LONG, ()


def removed(connection):
    return run(connection, f"SET @traceparent = '{OTHER}'", "SET @traceparent = NULL"), LONG, ()


def reset(connection):
    run(connection, f"SET @traceparent = '{OTHER}'")
    connection.cmd_reset_connection()
    return connection.cursor(), LONG, ()


def execute(cursor, statement, values):
    try:
        cursor.execute(statement, values)
        cursor.fetchall()
    except mysql.connector.Error:
        pass


# A cursor does not keep its connection.
connections = []
for use_pure in (True, False):
    for way in (attribute, prepared, comment, variable, before, removed, reset):
        connection = connect(use_pure)
        connections.append(connection)
        print(way.__name__, connection.connection_id, flush=True)
        threading.Thread(target=execute, args=way(connection), daemon=True).start()
print("ready 0", flush=True)
sys.stdin.read()
os._exit(0)
