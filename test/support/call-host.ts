/**
 * Calls a host until it is stopped, as one of several processes that share a sheet: `<store> <url> <policy as JSON>`. Notifies its parent
 * after the first call.
 */
import { DEFAULT_HOST_POLICY, type HostPolicy } from '../../src/derivation/definition/host-policies.ts'
import { NetworkTransport } from '../../src/sheet/transports.ts'
import { Database } from '../../src/store/postgres/database/database.ts'
import { PostgresHosts } from '../../src/store/postgres/hosts/postgres-hosts.ts'
import { parseStoreUrl } from '../../src/store/postgres/database/store-url.ts'

/** Waiting calls at a time; more than the concurrency of any host. */
const CALLERS = 64

const [store = '', url = '', policy = '{}'] = process.argv.slice(2)
const options = {
  signal: new AbortController().signal,
  policy: { ...DEFAULT_HOST_POLICY, ...(JSON.parse(policy) as Partial<HostPolicy>) },
  hosts: new PostgresHosts(new Database(parseStoreUrl(store))),
}
const transport = new NetworkTransport()

async function callAgainAndAgain(): Promise<never> {
  for (;;) {
    const headers = { 'X-Process': String(process.pid) }
    await transport.send({ method: 'GET', url, headers, body: null, secretHeaders: new Set() }, options)
  }
}

for (let caller = 0; caller < CALLERS; caller += 1) void callAgainAndAgain()
process.on('disconnect', () => process.exit())
