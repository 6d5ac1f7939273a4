import { HEADER_COUNT_LIMIT } from '../../src/http/http-server.ts'
import { CSRF } from './http-fixture.ts'

/** The expected response; a success if it has no type. */
type Expected = readonly [status: number, type?: string, words?: RegExp]
export type HostileRequest = readonly [what: string, message: string | Buffer, ...Expected]

const WRITES = Object.entries(CSRF).map(([name, value]) => `${name}: ${value}`)
const JSON_TYPE = 'Content-Type: application/json'

export function head(start: string, ...headers: readonly string[]): string {
  return [`${start} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')
}

export const get = (target: string, ...headers: string[]): string => head(`GET ${target}`, ...headers)

export function post(path: string, body: string | Buffer, ...headers: string[]): Buffer {
  const bytes = Buffer.from(body)
  const start = head(`POST ${path}`, ...WRITES, JSON_TYPE, `Content-Length: ${bytes.length}`, ...headers)
  return Buffer.concat([Buffer.from(start), bytes])
}

/** Without a length: the body is sent in chunks. */
const chunked = (body: string, ...headers: string[]): string =>
  head('POST /api/query', JSON_TYPE, ...(headers.length > 0 ? headers : ['Transfer-Encoding: chunked'])) +
  body

const sql = (statement: string): string => JSON.stringify({ sql: statement })
export const ONE = sql('SELECT 1 AS one')
export const numbered = (count: number, header = (index: number) => `X-${index}: 1`): string[] =>
  Array.from({ length: count }, (_, index) => header(index))

const NOT_HTTP = [400, 'ValidationError', /not valid HTTP/] as const
const NO_PATH = [404, 'SheetError', /no such path/] as const
const NO_RECORD = [404, 'SheetError', /no record/] as const
const REFUSED = [403, 'PermissionDeniedError'] as const
const LONG_URL = [414, 'ValidationError', /65536/] as const
const LARGE_HEAD = [431, 'ValidationError', /1000 headers/] as const
const LARGE_BODY = [413, 'ValidationError', /larger than 1000 bytes/] as const
const BAD_PATH = [400, 'ValidationError', /percent-encoded UTF-8/] as const
const BAD_LIMIT = [400, 'ValidationError', /limit/] as const
const OTHER_TYPE = [415, 'ValidationError'] as const
const BAD_CURSOR = [400, 'ValidationError', /cursor was not issued/] as const
const UNKNOWN = [400, 'ValidationError', /unknown/] as const

const SMUGGLING: readonly HostileRequest[] = [
  ['a length with sign', post('/api/query', ONE, 'Content-Length: +2'), ...NOT_HTTP],
  ['two equal lengths', post('/api/query', '{}', 'Content-Length: 2'), ...NOT_HTTP],
  ['a list of lengths', chunked('{}', 'Content-Length: 2, 2'), ...NOT_HTTP],
  ['a length in hexadecimal', chunked('{}', 'Content-Length: 0x2'), ...NOT_HTTP],
  ['a negative length', chunked('{}', 'Content-Length: -1'), ...NOT_HTTP],
  ['a length beyond 64 bits', chunked('{}', `Content-Length: ${'9'.repeat(30)}`), ...NOT_HTTP],
  [
    'chunks and length of a GET',
    get('/api/csrf', 'Transfer-Encoding: chunked', 'Content-Length: 3'),
    ...NOT_HTTP,
  ],
  ['a folded header', get('/api/csrf', 'X-A: 1', ' folded'), ...NOT_HTTP],
  ['line feeds alone', 'GET /api/csrf HTTP/1.1\nHost: localhost\n\n', ...NOT_HTTP],
  ['a carriage return alone', get('/api/csrf', 'X-A: a\rHost: evil.example'), ...NOT_HTTP],
  ['U+0000 in a header', get('/api/csrf', 'X-A: a\0b'), ...NOT_HTTP],
  ['a space before the colon', 'GET /api/csrf HTTP/1.1\r\nHost : localhost\r\n\r\n', ...NOT_HTTP],
  ['chunked, and then not', chunked('0\r\n\r\n', 'Transfer-Encoding: chunked, identity'), ...NOT_HTTP],
  ['a transfer encoding of its own', chunked('{}', 'Transfer-Encoding: xchunked'), ...NOT_HTTP],
  ['a transfer encoding behind a tab', chunked('0\r\n\r\n', 'Transfer-Encoding: \vchunked'), ...NOT_HTTP],
  [
    'chunked twice',
    chunked('0\r\n\r\n', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
    ...NOT_HTTP,
  ],
  ['gzip in chunks', chunked('2\r\n{}\r\n0\r\n\r\n', 'Transfer-Encoding: gzip, chunked'), ...OTHER_TYPE],
  ['a chunk extension with a line feed', chunked(`2;a\n{}\r\n0\r\n\r\n`), ...NOT_HTTP],
  ['a chunk size with a space', chunked('2 \r\n{}\r\n0\r\n\r\n'), ...NOT_HTTP],
  ['a chunk size beyond 64 bits', chunked(`${'f'.repeat(19)}\r\n{}\r\n0\r\n\r\n`), ...NOT_HTTP],
  [
    '20 KB of chunk extensions',
    chunked(`2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
    413,
    'ValidationError',
  ],
  [
    'headers after the body',
    chunked(`${ONE.length.toString(16)}\r\n${ONE}\r\n0\r\nHost: evil.example\r\n\r\n`),
    200,
  ],
]

const OTHER_PROTOCOLS: readonly HostileRequest[] = [
  ['HTTP/0.9', 'GET /api/csrf\r\n\r\n', ...REFUSED],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', ...NOT_HTTP],
  ['HTTP/3.0', 'GET /api/csrf HTTP/3.0\r\nHost: localhost\r\n\r\n', ...NOT_HTTP],
  ['the hello of TLS', Buffer.from(`16030100f8010000f40303${'ab'.repeat(244)}`, 'hex'), ...NOT_HTTP],
  ['a method of RTSP', 'DESCRIBE /api/csrf RTSP/1.0\r\nHost: localhost\r\n\r\n', ...NOT_HTTP],
  ['HTTP/1.0', 'GET /api/csrf HTTP/1.0\r\nHost: localhost\r\n\r\n', 200],
  ['a method in small letters', get('/api/csrf').replace('GET', 'get'), ...NOT_HTTP],
  ['a method of 10 KB', get('/api/csrf').replace('GET', 'G'.repeat(10_000)), ...NOT_HTTP],
  [
    'an upgrade to HTTP/2',
    get('/api/csrf', 'Connection: Upgrade', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'),
    200,
  ],
  [
    'a websocket on the stream of a run',
    get('/api/runs/1/events', 'Connection: Upgrade', 'Upgrade: websocket'),
    404,
    'SheetError',
  ],
  ['an expectation that nobody knows', get('/api/csrf', 'Expect: nonsense'), 200],
  ['GET with a body', `${get('/api/csrf', 'Content-Length: 5')}hello`, 200],
  ['GET with broken JSON', `${get('/api/records', JSON_TYPE, 'Content-Length: 5')}{"a":`, 200],
  [
    'ranges and conditions',
    get('/api/records', 'Range: bytes=0-1', 'If-Modified-Since: never', 'If-None-Match: x', 'Date: 0'),
    200,
  ],
  ['another method in a header', post('/api/query', ONE, 'X-HTTP-Method-Override: DELETE'), 200],
  ['another method as parameter', post('/api/query?_method=DELETE', ONE), ...UNKNOWN],
]

const TARGETS: readonly HostileRequest[] = [
  ['another scheme', get('ftp://localhost/api/csrf'), ...REFUSED],
  ['a user in the URL', get('http://localhost@evil.example/api/csrf'), ...REFUSED],
  ['a URL without path', get('http://localhost?x'), ...NO_PATH],
  ['an asterisk with GET', get('*'), ...NO_PATH],
  ['no slash', get('api/csrf'), ...NOT_HTTP],
  ['a host and port alone', get('localhost:80'), ...NOT_HTTP],
  ['a whole URL over 64 KiB', get(`http://localhost/api/records?filter=${'x'.repeat(65_530)}`), ...LONG_URL],
  ['an encoded slash', get('/api%2fcsrf'), ...NO_PATH],
  ['encoded dots', get('/api/%2e%2e/api/csrf'), ...NO_PATH],
  ['dots', get('/api/../api/csrf'), ...NO_PATH],
  ['an id of dots', get('/api/records/..%2f..%2fcontract.yaml'), ...NO_RECORD],
  ['an encoded U+0000', get('/api/csrf%00'), ...NO_PATH],
  ['an id with U+0000', get('/api/records/a%00'), ...NO_RECORD],
  ['an id with line breaks', get('/api/records/a%0d%0aSet-Cookie:%20x=y'), ...NO_RECORD],
  ['a path with line breaks', get('/api/nowhere/%0d%0aSet-Cookie:%20x=y'), ...NO_PATH],
  ['half an escape', get('/api/records/%'), ...BAD_PATH],
  ['an escape that is none', get('/api/records/%zz'), ...BAD_PATH],
  ['an overlong slash', get('/api/records/%c0%af'), ...BAD_PATH],
  ['an encoded surrogate', get('/api/records/%ed%a0%80'), ...BAD_PATH],
  ['two slashes', get('//api/csrf'), ...NO_PATH],
  ['a host in the path', get('//evil.example/api/csrf'), ...NO_PATH],
  ['two slashes inside', get('/api//csrf'), ...NO_PATH],
  ['path parameters', get('/api/csrf;jsessionid=1'), ...NO_PATH],
  ['a backslash', get('/api\\csrf'), ...NO_PATH],
  ['a slash at the end', get('/api/csrf/'), ...NO_PATH],
  ['capitals', get('/API/csrf'), ...NO_PATH],
  ['bytes that are no ASCII', get('/api/records/é'), ...NOT_HTTP],
  ['a control character', get('/api/records/a\x01'), ...NOT_HTTP],
]

const PARAMETERS: readonly HostileRequest[] = [
  ...[
    '0',
    '-1',
    '1e99',
    '1.5',
    '%205',
    '0x10',
    'NaN',
    '5e1',
    '',
    '%2B5',
    '-0',
    '1_000',
    '%D9%A3',
    'Infinity',
  ].map((limit): HostileRequest => [`limit=${limit}`, get(`/api/records?limit=${limit}`), ...BAD_LIMIT]),
  [
    'one name 7,000 times',
    get(`/api/records?${'limit=1&'.repeat(7000)}`),
    400,
    'ValidationError',
    /more than once/,
  ],
  ['7,000 names', get(`/api/records?${numbered(7000, (index) => `p${index}`).join('&')}`), ...UNKNOWN],
  ['__proto__', get('/api/records?__proto__=1'), ...UNKNOWN],
  ['brackets', get('/api/records?__proto__[admin]=1'), ...UNKNOWN],
  ['12,000 fields', get(`/api/records?fields=${numbered(12_000, String).join(',')}`), ...UNKNOWN],
  ['12,000 targets', get(`/api/status?targets=${numbered(12_000, String).join(',')}`), 400, 'OperationError'],
  ['an id of 60 KB', get(`/api/records/${'x'.repeat(60_000)}`), ...NO_RECORD],
  ['an id of 60 KB in the past', get(`/api/records/${'x'.repeat(60_000)}?as_of=1`), ...NO_RECORD],
  [
    'a record of 60 KB without provenance',
    get(`/api/provenance?field=title&record_id=${'x'.repeat(60_000)}`),
    ...NO_RECORD,
  ],
  ['a field of 60 KB', get(`/api/provenance?record_id=a&field=${'x'.repeat(60_000)}`), ...UNKNOWN],
  ['a cell of a record of 60 KB', get(`/api/status/rate/${'x'.repeat(60_000)}`), ...NO_RECORD],
  ['a target of 60 KB', get(`/api/status/${'x'.repeat(60_000)}/a`), 400, 'OperationError'],
  ['a run of 60 KB', get(`/api/runs/${'x'.repeat(60_000)}`), 404, 'SheetError', /no run/],
  ['a run called __proto__', get('/api/runs/__proto__/failures'), 404, 'SheetError', /no run/],
  [
    'as_of of 60,000 digits',
    get(`/api/records?as_of=${'9'.repeat(60_000)}`),
    400,
    'ValidationError',
    /not happened/,
  ],
  ['as_of in year 9999999999', get('/api/records?as_of=9999999999-01-01T00:00:00Z'), 400, 'ValidationError'],
  ['a cursor of JSON', get(`/api/records?cursor=${btoa('{"after":1}')}`), ...BAD_CURSOR],
  ['a cursor of 60 KB', get(`/api/records?cursor=${'A'.repeat(60_000)}`), ...BAD_CURSOR],
  [
    'a cursor of the past',
    get(`/api/records?as_of=0&cursor=999999999999999.${'A'.repeat(32)}`),
    ...BAD_CURSOR,
  ],
  ['a cursor of brackets', get(`/api/runs?cursor=${btoa('['.repeat(30_000))}`), ...BAD_CURSOR],
]

const HEADERS: readonly HostileRequest[] = [
  [`${HEADER_COUNT_LIMIT} headers`, get('/api/csrf', ...numbered(HEADER_COUNT_LIMIT - 1)), 200],
  [`${HEADER_COUNT_LIMIT + 1} headers`, get('/api/csrf', ...numbered(HEADER_COUNT_LIMIT)), ...LARGE_HEAD],
  [
    'a second Host behind 2,100 headers',
    get('/api/csrf', ...numbered(2100), 'Host: evil.example'),
    ...LARGE_HEAD,
  ],
  [
    'an Origin behind 2,100 headers',
    get('/api/csrf', ...numbered(2100), 'Origin: http://evil.example'),
    ...LARGE_HEAD,
  ],
  [
    'an Origin behind 990 headers',
    get('/api/csrf', ...numbered(990), 'Origin: http://evil.example'),
    ...REFUSED,
  ],
  ['a cookie of 100 KB', get('/api/csrf', `Cookie: svc_csrf=${'x'.repeat(100_000)}`), 200],
  ['20,000 cookies', get('/api/csrf', `Cookie: ${'a=b; '.repeat(20_000)}`), 200],
  ['cookies with names of objects', get('/api/csrf', 'Cookie: __proto__=1; constructor=2; toString=3'), 200],
  [
    'If-Match with 10,000 tags',
    post(
      '/api/records',
      '{"records":[{"id":"a"}]}',
      `If-Match: ${numbered(10_000, (index) => `"v${index}"`).join(',')}`,
    ),
    412,
    'OperationError',
  ],
  [
    'If-Match of 100 KB of quotes',
    post('/api/records', '{"records":[{"id":"a"}]}', `If-Match: ${'"'.repeat(100_001)}`),
    400,
    'ValidationError',
  ],
  [
    'If-Match of 100 KB of commas',
    post('/api/records', '{"records":[{"id":"a"}]}', `If-Match: x${' ,\t'.repeat(33_000)}x`),
    400,
    'ValidationError',
  ],
  [
    'Prefer of 75 KB',
    post('/api/materialize', '{"targets":["x"]}', `Prefer: ${'wait=1,'.repeat(10_000)}`),
    400,
    'OperationError',
  ],
  [
    'a content type of 100 KB of semicolons',
    head('POST /api/query', `Content-Type: ${';'.repeat(100_000)}`, 'Content-Length: 2') + '{}',
    ...OTHER_TYPE,
  ],
  [
    'a content type of 100 KB of white space',
    head(
      'POST /api/query',
      `Content-Type: application/json; charset=${' '.repeat(100_000)}x`,
      'Content-Length: 2',
    ) + '{}',
    ...OTHER_TYPE,
  ],
  [
    'two content types',
    head('POST /api/query', 'Content-Type: text/plain, application/json', 'Content-Length: 2') + '{}',
    ...OTHER_TYPE,
  ],
]

const BODIES: readonly HostileRequest[] = [
  ['a body of the limit', post('/api/query', ONE.padEnd(1000)), 200],
  ['a byte too many', post('/api/query', ONE.padEnd(1001)), ...LARGE_BODY],
  ['a byte too many, written', post('/api/records', '{"records":[]}'.padEnd(1001)), ...LARGE_BODY],
  ['a byte too many in chunks', chunked(`3e9\r\n${ONE.padEnd(1001)}\r\n0\r\n\r\n`), ...LARGE_BODY],
  ['many small chunks', chunked(`${'1\r\n \r\n'.repeat(1001)}0\r\n\r\n`), ...LARGE_BODY],
  ['UTF-16', post('/api/query', Buffer.from(ONE, 'utf16le')), 400, 'ValidationError', /JSON/],
  [
    'no UTF-8',
    post('/api/records', Buffer.from('{"records":"\xff"}', 'latin1')),
    400,
    'ValidationError',
    /UTF-8/,
  ],
  ['a byte order mark', post('/api/query', `\uFEFF${ONE}`), 200],
  ['gzip', post('/api/query', ONE, 'Content-Encoding: gzip'), ...OTHER_TYPE],
  [
    'UTF-7',
    head('POST /api/query', `${JSON_TYPE}; charset=utf-7`, 'Content-Length: 2') + '{}',
    ...OTHER_TYPE,
  ],
  ['__proto__', post('/api/query', '{"__proto__":{"sql":"SELECT 1"}}'), ...UNKNOWN],
  ['constructor', post('/api/materialize', '{"constructor":{"prototype":{"force":true}}}'), ...UNKNOWN],
  ['__proto__ of an upsert', post('/api/records', '{"__proto__":{"records":[]}}'), ...UNKNOWN],
  [
    '__proto__ of a record',
    post('/api/records', '{"records":[{"id":"q","__proto__":{"title":"x"}}]}'),
    400,
    'ValidationError',
    /"__proto__": the contract has no such field/,
  ],
  [
    'an id of two values',
    post('/api/records', '{"records":[{"id":"a","id":5}]}'),
    400,
    'ValidationError',
    /5 is not a string/,
  ],
  [
    'a number beyond a double',
    post('/api/query', '{"sql":"SELECT ? AS a","params":[1e999]}'),
    400,
    'ValidationError',
    /1e999 is out of the range of numbers/,
  ],
]

/** Requests that are wrong or unusual, by their defect; for an app whose body limit is 1,000 bytes. */
export const HOSTILE_REQUESTS: Readonly<Record<string, readonly HostileRequest[]>> = {
  'framing that proxies may read otherwise': SMUGGLING,
  'other protocols and habits': OTHER_PROTOCOLS,
  'request targets': TARGETS,
  'query parameters and ids': PARAMETERS,
  headers: HEADERS,
  bodies: BODIES,
}
