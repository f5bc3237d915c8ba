/* tls.h - a server's and a client's ends of connections of libssl. */
#include "check.h"

/* As OpenSSL's manual declares them, so that its headers need not be there. */
typedef struct ssl SSL;
typedef struct context SSL_CTX;
typedef struct method SSL_METHOD;
enum { PEM = 1, WANT_READ = 2 };
const SSL_METHOD *TLS_client_method(void);
const SSL_METHOD *TLS_server_method(void);
SSL_CTX *SSL_CTX_new(const SSL_METHOD *);
int SSL_CTX_use_certificate_file(SSL_CTX *, const char *, int);
int SSL_CTX_use_PrivateKey_file(SSL_CTX *, const char *, int);
SSL *SSL_new(SSL_CTX *);
int SSL_set_fd(SSL *, int);
int SSL_clear(SSL *);
int SSL_accept(SSL *);
int SSL_connect(SSL *);
int SSL_peek(SSL *, void *, int);
int SSL_read(SSL *, void *, int);
int SSL_read_ex(SSL *, void *, size_t, size_t *);
int SSL_write(SSL *, const void *, int);
int SSL_write_ex(SSL *, const void *, size_t, size_t *);
int SSL_get_error(const SSL *, int);
void SSL_free(SSL *);
unsigned long ERR_peek_last_error(void);
void ERR_clear_error(void);

static inline SSL_CTX *new_server_context(void) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    CHECK(SSL_CTX_use_certificate_file(context, "cert.pem", PEM) == 1);
    CHECK(SSL_CTX_use_PrivateKey_file(context, "key.pem", PEM) == 1);
    return context;
}

static inline SSL *new_connection(SSL_CTX *context, int fd) {
    SSL *ssl = SSL_new(context);
    CHECK(ssl != NULL && SSL_set_fd(ssl, fd) == 1);
    return ssl;
}
