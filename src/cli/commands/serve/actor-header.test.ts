import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseActorHeader } from './actor-header.ts'

test('header names that reverse proxies use are accepted, in lower case', () => {
  for (const name of [
    'X-Forwarded-User',
    'x-remote-user',
    'Remote-User',
    'X-Auth-Request-Email',
    'X-WebAuth-User',
    'Tailscale-User-Login',
    'Cf-Access-Authenticated-User-Email',
    'X-authentik-username',
    'X-Goog-Authenticated-User-Email',
    '!#$%&*+.^_`|~',
  ]) {
    assert.equal(parseActorHeader(name), name.toLowerCase())
  }
})

test('invalid header names are refused', () => {
  const texts = [
    '',
    ' ',
    'X User',
    'X-User:',
    'X-User\r\nX: y',
    'X-Usér',
    'X,Y',
    'X/Y',
    '"X"',
    'X;',
    ' X-User',
    '\0',
  ]
  for (const text of texts) assert.throws(() => parseActorHeader(text), /Give a header name alone/, text)
})

test('headers that requests use for another purpose are refused, whatever their case', () => {
  for (const name of [
    'cookie',
    'Host',
    'ORIGIN',
    'X-CSRF-Token',
    'X-Svc-Actor',
    'Authorization',
    'Proxy-Authorization',
    'Connection',
    'Transfer-Encoding',
    'Content-Length',
    'Content-Type',
    'Accept',
    'Accept-Language',
    'User-Agent',
    'Referer',
    'Sec-Fetch-Site',
    'If-Match',
    'Last-Event-ID',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Real-IP',
    'From',
  ]) {
    assert.throws(() => parseActorHeader(name), /for another purpose/, name)
  }
})
