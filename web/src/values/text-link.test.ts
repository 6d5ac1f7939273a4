import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkOf } from './text-link.ts'

test('URLs and email addresses are links', () => {
  assert.equal(linkOf('https://example.com/a?b=c#d'), 'https://example.com/a?b=c#d')
  assert.equal(linkOf('HTTP://EXAMPLE.COM'), 'HTTP://EXAMPLE.COM')
  assert.equal(linkOf('ann.lee+x@mail.example.org'), 'mailto:ann.lee+x@mail.example.org')
})

test('a text with a link in it, and schemes that could run something, are not', () => {
  for (const text of [
    'see https://example.com',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://x',
    'a@b',
    '@',
    'https://',
    '',
  ])
    assert.equal(linkOf(text), null, text)
})
