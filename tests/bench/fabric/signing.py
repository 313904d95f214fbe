"""Ed25519 by libcrypto itself: a program that is started for one signature would cost more than all of it."""
import base64
import ctypes
import ctypes.util


class Signer:
    """By a private key in PEM (PKCS #8)."""

    def __init__(self, pem):
        # The last 32 bytes of such a key are the seed (RFC 8410).
        seed = base64.b64decode("".join(line for line in pem.splitlines() if "-" not in line))[-32:]
        crypto = self.crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
        for name in ("EVP_PKEY_new_raw_private_key", "EVP_MD_CTX_new"):
            getattr(crypto, name).restype = ctypes.c_void_p
        self.key = ctypes.c_void_p(crypto.EVP_PKEY_new_raw_private_key(
            1087, None, seed, ctypes.c_size_t(len(seed))))  # NID_ED25519
        if not self.key.value:
            raise ValueError("Liqo's key is no Ed25519 key")

    def sign(self, message):
        context = ctypes.c_void_p(self.crypto.EVP_MD_CTX_new())
        signature, length = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
        done = (self.crypto.EVP_DigestSignInit(context, None, None, None, self.key) == 1
                and self.crypto.EVP_DigestSign(context, signature, ctypes.byref(length), message,
                                               ctypes.c_size_t(len(message))) == 1)
        self.crypto.EVP_MD_CTX_free(context)
        if not done:
            raise ValueError("libcrypto does not sign")
        return signature.raw
