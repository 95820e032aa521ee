/* What of memory this machine has. */
#ifndef ERGO_BASE_MEMORY_H
#define ERGO_BASE_MEMORY_H

/* Bytes. Asked before malloc: Linux promises more memory than there is, and kills the process that
 * uses it. */
double ergo_memory(void);

#endif
