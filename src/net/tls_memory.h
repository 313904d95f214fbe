// Where OpenSSL's record buffers come from.
//
// Each is about 17 KiB and lives from a record's first byte to its last, then is given back
// (SSL_MODE_RELEASE_BUFFERS): thousands of connections share a few. From malloc they would leave
// holes between what stays, which no longer go back to the system (a thousand connections that
// arrive at once cost 43 KiB each instead of 25), and merging and splitting such chunks is a third
// of what the loop spends on memory. So they have a shelf of their own.
#pragma once

namespace spillway::net {

// Before anything else asks OpenSSL for memory; false: somebody has, and all stays as it was.
bool put_record_buffers_on_a_shelf();

}  // namespace spillway::net
