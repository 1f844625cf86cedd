/*===- Expect.h - Checks that end a C test ----------------------*- C -*-===*/

#ifndef NM_TEST_CAPI_EXPECT_H
#define NM_TEST_CAPI_EXPECT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(int line, const char *what) {
  fprintf(stderr, "line %d: %s\n", line, what);
  exit(1);
}

#define EXPECT(CONDITION)                                                      \
  do {                                                                         \
    if (!(CONDITION))                                                          \
      fail(__LINE__, #CONDITION);                                              \
  } while (0)

/* The call succeeds. */
#define SUCCEEDS(CALL)                                                         \
  do {                                                                         \
    char *message_ = (CALL);                                                   \
    if (message_)                                                              \
      fail(__LINE__, message_);                                                \
  } while (0)

/* The call fails with a message that has PART in it. */
#define FAILS(CALL, PART)                                                      \
  do {                                                                         \
    char *message_ = (CALL);                                                   \
    if (!message_ || !strstr(message_, PART))                                  \
      fail(__LINE__, message_ ? message_ : "expected an error: " #CALL);       \
    nmMessageFree(message_);                                                   \
  } while (0)

#endif /* NM_TEST_CAPI_EXPECT_H */
