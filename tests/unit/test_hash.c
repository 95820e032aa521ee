/* SHA-256, whichever way this processor takes: published digests (FIPS 180-4's examples, NIST's
 * example of a million letters), and libsodium's of all lengths around the ends of blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "base/text.h"

static void expect(const void *data, size_t length, const char *hex) {
    char text[65];
    uint8_t sha[32];
    ergo_sha256(data, length, sha);
    for (int i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", sha[i]);
    assert_string_equal(text, hex);
}

static void test_published(void **state) {
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    const size_t million = 1000000;
    char *letters = malloc(million);
    (void)state;
    assert_non_null(letters);
    memset(letters, 'a', million);
    expect("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(two, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    expect(letters, million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(letters);
    assert_true(ergo_hash64("abc", 3) == UINT64_C(0xba7816bf8f01cfea));
}

static void test_lengths(void **state) {
    enum { MOST = 400 };
    uint8_t data[MOST + 16], own[32], other[32];
    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 167 + i / 7);
    for (size_t n = 0; n < MOST; n++) {
        ergo_sha256(data + n % 16, n, own);
        crypto_hash_sha256(other, data + n % 16, n);
        assert_memory_equal(own, other, 32);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
