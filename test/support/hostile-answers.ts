import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { drip, pour, say, sayAndLeave, whole, type RawAnswer } from './raw-upstream.ts'

/** A malicious or broken response, and the result of a cell that receives it. */
export interface HostileAnswer {
  readonly answer: RawAnswer
  /** The text after `<METHOD> <URL> -> `; for a cell that is computed nevertheless, its `value`. */
  readonly comesTo: string | { readonly value: string }
  /** Responds as soon as the request's head has arrived. */
  readonly hasty?: boolean
}

const MIB = 1024 * 1024
const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`
const TOO_LARGE = 'body larger than 10 MiB'
const NO_HTTP = 'invalid HTTP response'
const HEADERS = 'response headers too large'
const BAD_SCHEME = 'redirect to a scheme other than http and https'

/** The largest text that fits in `{"value":"…"}`. */
export const LARGEST_TEXT = 'x'.repeat(10 * MIB - '{"value":""}'.length)

function json(body: string | Buffer): RawAnswer {
  return say(whole(body))
}

function encoded(encoding: string, body: Buffer): RawAnswer {
  return say(whole(body, `content-encoding: ${encoding}\r\n`))
}

function redirect(location: string, status = '302 Found'): RawAnswer {
  return say(whole('', `location: ${location}\r\n`, status))
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

const nulls = Buffer.alloc(30 * MIB, ' ')
const deep = `{"value":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
const spaces = Buffer.alloc(64 * 1024, ' ')

/** Fast attacks, by path; each ends once the client disconnects. */
export const QUICK: Readonly<Record<string, HostileAnswer>> = {
  '/good': { answer: json('{"value":"good"}'), comesTo: { value: 'good' } },
  // Too large.
  '/endless-body': { answer: pour(`${OK}\r\n`, spaces), comesTo: TOO_LARGE },
  '/endless-chunks': {
    answer: pour(CHUNKED, Buffer.from(chunk(spaces.toString()))),
    comesTo: TOO_LARGE,
  },
  '/endless-headers': {
    answer: pour(OK, Buffer.from('x-more: and more\r\n'.repeat(1000))),
    comesTo: HEADERS,
  },
  '/endless-trailers': {
    answer: pour(`${CHUNKED}0\r\n`, Buffer.from('x-more: and more\r\n'.repeat(1000))),
    comesTo: HEADERS,
  },
  '/endless-interim': {
    answer: pour('', Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(1000))),
    comesTo: 'too many interim responses',
  },
  '/one-byte-too-many': { answer: json(`{"value":"${LARGEST_TEXT}x"}`), comesTo: TOO_LARGE },
  '/announced-only': { answer: say(`${OK}content-length: 99999999999\r\n\r\n{}`), comesTo: TOO_LARGE },
  '/largest-text': { answer: json(`{"value":"${LARGEST_TEXT}"}`), comesTo: { value: LARGEST_TEXT } },
  '/one-byte-chunks': {
    answer: say(`${CHUNKED}${'{"value":"crumbs"}'.split('').map(chunk).join('')}0\r\n\r\n`),
    comesTo: { value: 'crumbs' },
  },
  '/endless-crumbs': {
    answer: pour(CHUNKED, Buffer.from(chunk(' ').repeat(10_000))),
    comesTo: 'body in too many pieces',
  },
  '/1000-headers': {
    answer: say(whole('{"value":"x"}', 'x: y\r\n'.repeat(1000))),
    comesTo: HEADERS,
  },
  '/huge-header': { answer: say(whole('{}', `x: ${'y'.repeat(MIB)}\r\n`)), comesTo: HEADERS },
  '/gzip-bomb': { answer: encoded('gzip', gzipSync(nulls)), comesTo: TOO_LARGE },
  '/deflate-bomb': { answer: encoded('deflate', deflateSync(nulls)), comesTo: TOO_LARGE },
  '/brotli-bomb': { answer: encoded('br', brotliCompressSync(nulls)), comesTo: 'unknown content encoding' },
  '/nested-bomb': { answer: encoded('gzip, gzip', gzipSync(gzipSync(nulls))), comesTo: TOO_LARGE },
  '/zstd-bomb': {
    answer: encoded('zstd', zstdCompressSync(nulls)),
    comesTo: 'unknown content encoding',
  },
  '/not-gzip': {
    answer: encoded('gzip', Buffer.from('{"value":"x"}')),
    comesTo: 'the body cannot be decompressed',
  },
  '/gzip-and-more': {
    answer: encoded('gzip', Buffer.concat([gzipSync('{"value":"x"}'), Buffer.from('{}')])),
    comesTo: 'the body cannot be decompressed',
  },
  '/ten-encodings': {
    answer: encoded(Array(10).fill('gzip').join(', '), Buffer.from('{}')),
    comesTo: 'too many content encodings',
  },
  // Not what it claims to be.
  '/cut-short': {
    answer: sayAndLeave(`${OK}content-length: 99\r\n\r\n{"value":"x"}`),
    comesTo: 'connection closed',
  },
  '/two-lengths': {
    answer: say(`${OK}content-length: 2\r\ncontent-length: 13\r\n\r\n{"value":"x"}`),
    comesTo: NO_HTTP,
  },
  '/length-and-chunks': {
    answer: say(`${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n${chunk('{}')}0\r\n\r\n`),
    comesTo: NO_HTTP,
  },
  '/negative-length': { answer: say(`${OK}content-length: -1\r\n\r\n{}`), comesTo: NO_HTTP },
  '/bad-chunk': { answer: say(`${CHUNKED}zz\r\n{}\r\n`), comesTo: NO_HTTP },
  '/huge-chunk': { answer: say(`${CHUNKED}ffffffffffffffffff\r\n{}\r\n`), comesTo: NO_HTTP },
  '/reset-in-body': {
    answer: sayAndLeave(`${OK}content-length: 99\r\n\r\n{"value":`, 'reset'),
    comesTo: 'connection reset',
  },
  '/reset-in-headers': { answer: sayAndLeave(`${OK}content-le`, 'reset'), comesTo: 'connection reset' },
  '/silent-close': { answer: sayAndLeave(''), comesTo: 'connection closed' },
  '/http-0.9': { answer: sayAndLeave('{"value":"x"}'), comesTo: NO_HTTP },
  '/http-2': { answer: say('\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80'), comesTo: NO_HTTP },
  '/ssh': { answer: say('SSH-2.0-OpenSSH_9.6\r\n'), comesTo: NO_HTTP },
  '/upgrade': {
    answer: say('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    comesTo: 'connection closed',
  },
  '/no-content': {
    answer: say('HTTP/1.1 204 No Content\r\ncontent-length: 13\r\n\r\n{"value":"x"}'),
    comesTo: 'malformed JSON',
  },
  '/nothing-modified': {
    answer: say('HTTP/1.1 304 Not Modified\r\ncontent-length: 13\r\n\r\n{"value":"x"}'),
    comesTo: '304',
  },
  '/status-0': { answer: say('HTTP/1.1 000 Zero\r\ncontent-length: 2\r\n\r\n{}'), comesTo: NO_HTTP },
  '/status-999': { answer: say('HTTP/1.1 999 Nine\r\ncontent-length: 2\r\n\r\n{}'), comesTo: '999' },
  // Redirects.
  '/loop': { answer: redirect('/loop'), comesTo: 'too many redirects' },
  '/growing': {
    answer: (socket, { path }) =>
      redirect(`${path}${path.includes('?') ? '&' : '?'}more=${'x'.repeat(500)}`)(socket, undefined as never),
    comesTo: 'too many redirects',
  },
  '/to-file': { answer: redirect('file:///etc/hostname'), comesTo: BAD_SCHEME },
  '/to-data': { answer: redirect('data:application/json,{"value":"x"}'), comesTo: BAD_SCHEME },
  '/to-script': { answer: redirect('javascript:1'), comesTo: BAD_SCHEME },
  '/to-ftp': { answer: redirect('ftp://127.0.0.1/x', '307 Temporary Redirect'), comesTo: BAD_SCHEME },
  '/to-nowhere': { answer: redirect('http://[bad'), comesTo: 'redirect to an invalid address' },
  '/choices': { answer: say(whole('{"value":"x"}', '', '300 Multiple Choices')), comesTo: '300' },
  '/found-nowhere': { answer: say(whole('{"value":"x"}', '', '302 Found')), comesTo: '302' },
  // JSON and other bodies.
  '/deep': { answer: json(deep), comesTo: 'malformed JSON' },
  '/deep-string': {
    answer: json(`{"value":"${'['.repeat(100_000)}"}`),
    comesTo: { value: '['.repeat(100_000) },
  },
  '/empty': { answer: json(''), comesTo: 'malformed JSON' },
  '/html': { answer: json('<!doctype html>'), comesTo: 'malformed JSON' },
  '/two-values': { answer: json('{"value":"x"}{"value":"y"}'), comesTo: 'malformed JSON' },
  '/huge-number': { answer: json('{"value":1e400}'), comesTo: 'malformed JSON' },
  '/long-number': {
    answer: json('{"value":12345678901234567890}'),
    comesTo:
      'field "value": the integer 12345678901234567000 is beyond ±(2^53−1), so its last digits are lost; have it sent as a string',
  },
  '/digits': { answer: json(`{"value":0.${'1'.repeat(100_000)}}`), comesTo: { value: '0.1111111111111111' } },
  '/invalid-utf8': { answer: json(Buffer.from('{"value":"\xff"}', 'latin1')), comesTo: 'malformed JSON' },
  '/utf-16': { answer: json(Buffer.from('\ufeff{"value":"x"}', 'utf16le')), comesTo: 'malformed JSON' },
  '/bom': { answer: json('\ufeff{"value":"marked"}'), comesTo: { value: 'marked' } },
  '/twice-the-key': { answer: json('{"value":"x","value":"last"}'), comesTo: { value: 'last' } },
  '/lone-surrogate': {
    answer: json('{"value":"\\ud800"}'),
    comesTo: 'field "value": "\\ud800" contains a lone surrogate, which is no character',
  },
  '/nul': {
    answer: json('{"value":"\\u0000"}'),
    comesTo: 'field "value": "\\u0000" contains the character U+0000',
  },
  '/inherited': { answer: json('{"__proto__":{"value":"x"}}'), comesTo: 'no "value" in the response' },
  '/prototype': { answer: json('"value"'), comesTo: 'no "value" in the response' },
}

/** Those that would fill the memory. */
export const GREEDY = Object.fromEntries(
  Object.entries(QUICK)
    .filter(([path]) => /endless-(?:body|chunks|headers|crumbs)|(?:gzip|nested)-bomb|deep$/.test(path))
    .map(([path, { answer }]) => [path, answer]),
)

const ELSEWHERE = whole('', 'location: /drip-redirect\r\nconnection: close\r\n', '302 Found')

/** Responses that never end, by path; only a deadline ends the call. */
export const SLOW: Readonly<Record<string, RawAnswer>> = {
  '/silence': () => undefined,
  '/drip-body': drip(`${OK}\r\n`, ' '),
  '/drip-headers': drip(OK, 'x: 1\r\n'),
  '/drip-status': drip('HTTP/1.1 200 ', 'O'),
  '/drip-chunk-size': drip(CHUNKED, '0'),
  '/drip-extension': drip(`${CHUNKED}1;`, 'x'),
  '/stalled': say(`${OK}content-length: 99\r\n\r\n{"value":`),
  '/drip-gzip': drip(`${OK}content-encoding: gzip\r\n\r\n\x1f\x8b\x08`, '\0'),
  '/drip-redirect': (socket, request) =>
    // A request behind it has no connection of its own; a persistent one would stay open.
    void setTimeout(() => sayAndLeave(ELSEWHERE)(socket, request), 600),
}

/** Responses to a POST, by path. */
export const POSTED: Readonly<Record<string, HostileAnswer>> = {
  '/accepted': { answer: json('{"value":"good"}'), comesTo: { value: 'good' } },
  '/hasty-error': {
    answer: sayAndLeave(whole('{}', 'connection: close\r\n', '413 Too Large')),
    comesTo: '413',
    hasty: true,
  },
  '/hasty-success': {
    answer: sayAndLeave(whole('{"value":"early"}', 'connection: close\r\n')),
    comesTo: { value: 'early' },
    hasty: true,
  },
  '/continue': { answer: say('HTTP/1.1 100 Continue\r\n\r\n'), comesTo: 'connection closed' },
  '/posted-loop': {
    answer: redirect('/posted-loop', '308 Permanent Redirect'),
    comesTo: 'too many redirects',
  },
}
