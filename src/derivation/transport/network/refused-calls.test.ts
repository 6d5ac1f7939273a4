import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { Failure } from '../../../errors/failure.ts'
import { allowedHost } from '../../../sheet/calls/used-resources.ts'
import { hostOfUrl } from '../../definition/host-key.ts'
import { DEFAULT_HOST_POLICY } from '../../definition/host-policies.ts'
import type { HostPolicy } from '../../definition/host-policies.ts'
import { watchConnections } from '../testing/connection-watch.ts'
import { guardedConnector } from '../guard/guarded-connector.ts'
import type { Lookup } from '../guard/guarded-connector.ts'
import { startHttp } from '../testing/local-server.ts'
import type { LocalServer } from '../testing/local-server.ts'
import { UndiciTransport } from './undici-transport.ts'
import type { UndiciTransportOptions } from './undici-transport.ts'

/** Spellings of addresses that are never called; each is the host and perhaps the port of a URL. */
const SPELLINGS: readonly string[] = [
  // The address of most metadata services.
  '169.254.169.254',
  '169.254.169.254:80',
  '169.254.169.254:8080',
  '169.254.169.254.',
  '2852039166',
  '2852039166.',
  '0xA9FEA9FE',
  '0xa9fea9fe:80',
  '0x00000000a9fea9fe',
  '025177524776',
  '000025177524776',
  '0xa9.0xfe.0xa9.0xfe',
  '0XA9.0XFE.0XA9.0XFE',
  '0251.0376.0251.0376',
  '00251.00376.00251.00376',
  '0xa9.254.0251.254',
  '169.254.43518',
  '169.254.0xa9fe',
  '169.16689662',
  '0251.0xfea9fe',
  '%31%36%39.254.169.254',
  '169%2E254%2e169%2E254',
  '%32%38%35%32%30%33%39%31%36%36',
  '%30xa9fea9fe',
  '169。254。169。254',
  '169．254．169．254',
  '169｡254｡169｡254',
  '１６９.２５４.１６９.２５４',
  '１６９．２５４．１６９．２５４',
  '①⑥⑨.②⑤④.①⑥⑨.②⑤④',
  '⑯⑨.254.169.254',
  '¹⁶⁹.254.169.254',
  '𝟏𝟔𝟗.𝟐𝟓𝟒.𝟏𝟔𝟗.𝟐𝟓𝟒',
  '0ｘa9fea9fe',
  '1\u00ad69.254.169.254',
  '169.254\u200b.169.254',
  '%EF%BC%91%EF%BC%96%EF%BC%99.254.169.254',
  'user:pass@169.254.169.254',
  'api.example@169.254.169.254',
  'api.example%2f@169.254.169.254',
  // Other addresses of the network, and other clouds.
  '169.254.0.0',
  '169.254.170.2',
  '169.254.255.255',
  '100.100.100.200',
  '1684301000',
  '0x646464c8',
  '168.63.129.16',
  '0xa83f8110',
  '192.0.0.192',
  '3221225664',
  '0300.0.0.0300',
  '192.192',
  // IPv6.
  '[fe80::1]',
  '[FE80::1]',
  '[fe80:0:0:0:0:0:0:1]:8080',
  '[febf::1]',
  '[fd00:ec2::254]',
  '[FD00:0EC2:0000::0254]',
  '[fd00:ec2::23]',
  '[fd20:ce::254]',
  '[fd00:c1::a9fe:a9fe]',
  '[fd00:42::42]',
  '[::ffff:169.254.169.254]',
  '[::FFFF:a9fe:a9fe]',
  '[0:0:0:0:0:ffff:169.254.169.254]',
  '[0000:0000:0000:0000:0000:ffff:a9fe:a9fe]',
  '[::ffff:100.100.100.200]',
  '[::ffff:168.63.129.16]',
  '[::ffff:192.0.0.192]',
  '[::169.254.169.254]',
  '[::a9fe:a9fe]',
  '[::ffff:0:169.254.169.254]',
  '[::ffff:0:a9fe:a9fe]',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[0064:ff9b:0:0:0:0:a9fe:a9fe]',
  '[64:ff9b::100.100.100.200]',
  '[64:ff9b:1::169.254.169.254]',
  '[64:ff9b:1:a9fe:a9:fe00::]',
  '[64:ff9b:1:a9:fe:a9fe::]',
  '[64:ff9b:1:7:a9:fea9:fe00:0]',
  '[2002:a9fe:a9fe::]',
  '[2002:a9fe:a9fe::1]',
  '[2002:6464:64c8::1]',
]

/** Starts the host of allowed calls; `/to?<location>` redirects there. */
async function startServer(t: TestContext): Promise<LocalServer> {
  const server = await startHttp((incoming, response) => {
    const [, location] = /^\/to\?(.*)$/.exec(incoming.url ?? '') ?? []
    if (location === undefined) response.end('"answered"')
    else {
      const bytes = Buffer.from(decodeURIComponent(location), 'utf8').toString('latin1')
      response.writeHead(302, { location: bytes }).end()
    }
  })
  t.after(() => server.close())
  return server
}

function redirectTo(location: string): string {
  return `/to?${encodeURIComponent(location)}`
}

function transportFor(t: TestContext, options: UndiciTransportOptions = {}): UndiciTransport {
  const transport = new UndiciTransport(options)
  t.after(() => transport.close())
  return transport
}

/** The result of a call, and the number of its tries. */
interface Outcome {
  readonly json?: unknown
  readonly failure?: Failure & { readonly detail?: string }
  readonly tries: number
}

async function call(
  transport: UndiciTransport,
  url: string,
  policy: Partial<HostPolicy> = {},
): Promise<Outcome> {
  let tries = 0
  const answer = await transport.send(
    { method: 'GET', url, headers: {}, body: null, secretHeaders: new Set() },
    {
      signal: new AbortController().signal,
      policy: { ...DEFAULT_HOST_POLICY, concurrency: 1, retries: 3, timeoutMs: 20_000, ...policy },
      wanted: async () => (tries += 1) > 0,
    },
  )
  return answer.ok ? { json: answer.value.json, tries } : { failure: answer.error, tries }
}

/** The outcome of a call that is refused before it begins. */
function refused(url: string, detail: string): Outcome {
  return { failure: { reason: 'refused', request: `GET ${url}`, detail }, tries: 0 }
}

/** The outcome of a call that is cancelled while under way, and not tried again. */
function brokenOff(url: string, detail: string): Outcome {
  return { failure: { reason: 'network', request: `GET ${url}`, detail }, tries: 1 }
}

const ANSWERED: Outcome = { json: 'answered', tries: 1 }

const METADATA = 'is a link-local or cloud metadata address, which is never called'
const REDIRECT_TO_METADATA = 'refused: redirect to a link-local or cloud metadata address'
const REDIRECT_TO_UNLISTED = 'refused: redirect to a host that --allow-net does not list'
const LEADS_TO_METADATA = 'refused: the host leads to a link-local or cloud metadata address'

test('there are enough spellings, all different', () => {
  assert.ok(SPELLINGS.length >= 60, String(SPELLINGS.length))
  assert.equal(new Set(SPELLINGS).size, SPELLINGS.length)
})

for (const spelling of SPELLINGS) {
  test(`no socket is opened for ${JSON.stringify(spelling)}, even if it is listed`, async (t) => {
    const watch = watchConnections(t)
    for (const url of [`http://${spelling}/latest`, `https://${spelling}/latest`]) {
      const { hostname, host } = new URL(url)
      assert.notEqual(isIP(hostname.replace(/^\[|\]$/g, '')), 0, hostname)
      for (const allowedHosts of [null, new Set([hostname, host, spelling])]) {
        const transport = transportFor(t, { allowedHosts })
        assert.deepEqual(await call(transport, url), refused(url, `${hostname} ${METADATA}`))
      }
    }
    assert.deepEqual([watch.sockets(), watch.attempts], [0, []])
  })
}

test('a redirect to any of the spellings is not followed: the only socket is that of the allowed host', async (t) => {
  const server = await startServer(t)
  const watch = watchConnections(t)
  for (const allowedHosts of [null, new Set(['127.0.0.1', '169.254.169.254', '[fe80::1]'])]) {
    const transport = transportFor(t, { allowedHosts })
    for (const spelling of SPELLINGS) {
      for (const location of [`http://${spelling}/`, `https://${spelling}/`, `//${spelling}/`]) {
        const url = server.origin + redirectTo(location)
        assert.deepEqual(await call(transport, url), brokenOff(url, REDIRECT_TO_METADATA), location)
      }
    }
  }
  assert.deepEqual(new Set(watch.attempts), new Set(['127.0.0.1']))
  assert.equal(watch.sockets(), watch.attempts.length)
})

test('the last of several redirects is checked like the first', async (t) => {
  const server = await startServer(t)
  const watch = watchConnections(t)
  const hop = `${server.origin}${redirectTo(server.origin + redirectTo('http://2852039166/'))}`
  assert.deepEqual(await call(transportFor(t), hop), brokenOff(hop, REDIRECT_TO_METADATA))
  assert.deepEqual(new Set(watch.attempts), new Set(['127.0.0.1']))
})

test('a resolved address may have a zone, which no URL can have', async (t) => {
  const url = 'http://name.test/'
  const watch = watchConnections(t)
  const transport = transportFor(t, { lookup: resolving(['fe80::1%lo']) })
  assert.deepEqual(await call(transport, url), brokenOff(url, LEADS_TO_METADATA))
  assert.deepEqual(watch.attempts, [])
  for (const zoned of ['http://[fe80::1%25lo]/', 'http://[fe80::1%lo]/']) assert.equal(URL.parse(zoned), null)
})

/** Returns a resolver whose successive responses are these; the last one repeats. */
function resolving(...answers: readonly (readonly string[])[]): Lookup & { asked(): number } {
  let asked = 0
  const lookup: Lookup = (_hostname, _options, callback) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? []
    asked += 1
    const found = addresses.map((address): LookupAddress => ({ address, family: isIP(address) || 6 }))
    setImmediate(() => callback(null, found))
  }
  return Object.assign(lookup, { asked: () => asked })
}

test('a name with a refused address is refused, whatever its other addresses', async (t) => {
  const server = await startServer(t)
  const watch = watchConnections(t)
  for (const addresses of [
    ['169.254.169.254'],
    ['127.0.0.1', '169.254.169.254'],
    ['169.254.169.254', '127.0.0.1'],
    ['127.0.0.1', '::ffff:169.254.169.254'],
    ['::1', 'fe80::1', '127.0.0.1'],
    ['127.0.0.1', 'fd00:ec2::254'],
    ['64:ff9b::a9fe:a9fe'],
    ['127.0.0.1', '2002:a9fe:a9fe::1'],
    ['100.100.100.200', '8.8.8.8'],
  ]) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://metadata.test:${server.port}/`
      const lookup = resolving(addresses)
      const transport = transportFor(t, { lookup, allowedHosts: new Set(['metadata.test']) })
      assert.deepEqual(await call(transport, url), brokenOff(url, LEADS_TO_METADATA), addresses.join())
      assert.equal(lookup.asked(), 1)
    }
  }
  assert.deepEqual(watch.attempts, [])
  assert.equal(server.connections(), 0)
  // With an allowed address the same port is reachable.
  const url = `http://good.test:${server.port}/`
  assert.deepEqual(await call(transportFor(t, { lookup: resolving(['127.0.0.1']) }), url), ANSWERED)
  assert.deepEqual(watch.attempts, ['127.0.0.1'])
})

test('a name is resolved once for a connection: one that resolves to another address later is refused then', async (t) => {
  const server = await startServer(t)
  const url = `http://rebinding.test:${server.port}/`
  const watch = watchConnections(t)
  const lookup = resolving(['127.0.0.1'], ['169.254.169.254'])
  const transport = transportFor(t, { lookup })
  assert.deepEqual(await call(transport, url), ANSWERED)
  assert.deepEqual([lookup.asked(), watch.attempts], [1, ['127.0.0.1']])
  // The connection is kept, and needs no lookup.
  assert.deepEqual(await call(transport, url), ANSWERED)
  assert.deepEqual([lookup.asked(), server.connections()], [1, 1])

  const another = transportFor(t, { lookup })
  assert.deepEqual(await call(another, url), brokenOff(url, LEADS_TO_METADATA))
  assert.deepEqual([lookup.asked(), watch.attempts], [2, ['127.0.0.1']])
})

test('a redirect to a name is checked by its resolved addresses', async (t) => {
  const server = await startServer(t)
  const watch = watchConnections(t)
  const url = server.origin + redirectTo(`http://metadata.test:${server.port}/`)
  const transport = transportFor(t, { lookup: resolving(['127.0.0.1', '169.254.169.254']) })
  assert.deepEqual(await call(transport, url), brokenOff(url, LEADS_TO_METADATA))
  assert.deepEqual([watch.attempts, server.connections()], [['127.0.0.1'], 1])
})

test('a name without an address, and an unknown name, are not found', async (t) => {
  const url = 'http://nowhere.test/'
  const notFound = Object.assign(new Error('from outside'), { code: 'ENOTFOUND' })
  const failing: Lookup = (_hostname, _options, callback) => callback(notFound, [])
  for (const lookup of [resolving([]), failing]) {
    assert.deepEqual(await call(transportFor(t, { lookup }), url), brokenOff(url, 'host not found'))
  }
})

test('the connector refuses addresses for any caller, and asynchronously', async (t) => {
  const watch = watchConnections(t)
  const connect = guardedConnector(1000)
  for (const hostname of ['169.254.169.254', 'fe80::1', '::ffff:a9fe:a9fe', 'fd00:ec2::254']) {
    for (const protocol of ['http:', 'https:']) {
      const { promise, resolve } = Promise.withResolvers<Error | null>()
      let returned = false
      connect({ hostname, protocol, port: '80' }, (...[error]) => {
        assert.ok(returned)
        resolve(error)
      })
      returned = true
      assert.equal((await promise)?.message, LEADS_TO_METADATA)
    }
  }
  assert.equal(watch.sockets(), 0)
})

test('--allow-net: of two servers only the listed one is called', async (t) => {
  const listed = await startServer(t)
  const other = await startServer(t)
  const transport = transportFor(t, { allowedHosts: new Set([`127.0.0.1:${listed.port}`]) })
  assert.deepEqual(await call(transport, `${listed.origin}/`), ANSWERED)
  const url = `${other.origin}/`
  const why = `--allow-net does not list 127.0.0.1:${other.port}`
  assert.deepEqual(await call(transport, url), refused(url, why))
  const redirected = listed.origin + redirectTo(url)
  assert.deepEqual(await call(transport, redirected), brokenOff(redirected, REDIRECT_TO_UNLISTED))
  assert.deepEqual([listed.connections(), other.connections()], [1, 0])
})

test('--allow-net: a redirect to a listed host is followed, in any form', async (t) => {
  const first = await startServer(t)
  const second = await startServer(t)
  const transport = transportFor(t, { allowedHosts: new Set(['127.0.0.1']) })
  const url = first.origin + redirectTo(second.origin + redirectTo(`http://2130706433:${first.port}/`))
  assert.deepEqual(await call(transport, url), ANSWERED)
  assert.deepEqual([first.connections(), second.connections()], [1, 1])
})

/** A list of hosts, URLs that are called, and URLs that are not. */
const LISTED: readonly { list: string; called: readonly string[]; refused: readonly string[] }[] = [
  {
    list: 'api.example',
    called: [
      'http://api.example/',
      'https://api.example/',
      'http://api.example:8080/',
      'HTTPS://API.Example/',
    ],
    refused: [
      'http://api.example./',
      'http://www.api.example/',
      'http://example/',
      'http://api.example.evil.test/',
      'http://api.example@evil.test/',
      'http://evil.test/api.example',
      'http://evil.test/#@api.example',
      'http://127.0.0.1/',
    ],
  },
  {
    list: 'api.example:443',
    called: [
      'https://api.example/',
      'https://api.example:443/',
      'http://api.example:443/',
      'https://API.EXAMPLE/',
    ],
    refused: [
      'http://api.example/',
      'https://api.example:8443/',
      'https://api.example:4430/',
      'https://api.example.:443/',
    ],
  },
  {
    list: 'api.example:80',
    called: ['http://api.example/', 'http://api.example:80/', 'http://api.example:0080/'],
    refused: ['https://api.example/'],
  },
  { list: 'API.Example.', called: ['http://api.example./'], refused: ['http://api.example/'] },
  {
    list: 'bücher.example',
    called: ['http://xn--bcher-kva.example/', 'http://B%C3%BCcher.example/'],
    refused: [],
  },
  {
    list: '[::1]:8080',
    called: ['http://[::1]:8080/', 'http://[0:0:0:0:0:0:0:1]:8080/'],
    refused: [
      'http://[::1]/',
      'http://[::2]:8080/',
      'http://127.0.0.1:8080/',
      'http://[::ffff:127.0.0.1]:8080/',
    ],
  },
  {
    list: '[0:0::1]',
    called: ['http://[::1]/', 'https://[::1]:1/'],
    refused: ['http://localhost/', 'http://[::]/'],
  },
  {
    list: '0x7f.1',
    called: ['http://127.0.0.1/', 'http://2130706433:99/', 'http://127.1/'],
    refused: ['http://localhost/', 'http://127.0.0.2/'],
  },
]

for (const { list, called, refused: others } of LISTED) {
  test(`--allow-net ${list}: no other host opens a socket`, async (t) => {
    const watch = watchConnections(t)
    const allowedHosts = new Set([allowedHost(list, (message) => assert.fail(message))])
    const transport = transportFor(t, { allowedHosts, lookup: () => assert.fail('looked up') })
    for (const url of called) assert.equal(transport.refusal(hostOfUrl(new URL(url))), null, url)
    for (const url of others) {
      const host = hostOfUrl(new URL(url))
      assert.deepEqual(await call(transport, url), refused(url, `--allow-net does not list ${host}`))
    }
    assert.equal(watch.sockets(), 0)
  })
}

test('--offline: no host is called, neither this machine nor a refused address', async (t) => {
  const server = await startServer(t)
  const watch = watchConnections(t)
  const transport = transportFor(t, { allowedHosts: new Set() })
  for (const url of [`${server.origin}/`, 'https://api.example/', 'http://[::1]/', 'http://localhost/']) {
    assert.deepEqual(await call(transport, url), refused(url, '--offline lets derivations call nobody'))
  }
  const url = 'http://2852039166/'
  assert.deepEqual(await call(transport, url), refused(url, `169.254.169.254 ${METADATA}`))
  assert.deepEqual([watch.sockets(), server.connections()], [0, 0])
})

test('a refused call uses no permit and no part of the rate, and delays no other', async (t) => {
  const server = await startServer(t)
  const transport = transportFor(t)
  const policy = { concurrency: 1, rateLimit: { calls: 1, perMs: 3_600_000 } }
  for (let count = 0; count < 50; count += 1) {
    const { failure } = await call(transport, 'http://169.254.169.254/', policy)
    assert.equal(failure?.reason, 'refused')
  }
  assert.deepEqual(await call(transport, `${server.origin}/`, policy), ANSWERED)
})
