// Exports what each PostgreSQL does, and not the wait events of version 14.
void PostmasterMain(void) {}

int main(void) { return 0; }
