import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOfHosts } from './image-hosts.ts'

test('images of a host are those of all of its ports, and of host:port those of that one', () => {
  const is = (url: string, ...hosts: string[]): boolean => isOfHosts(url, hosts)
  assert.equal(is('https://a.example/x.png', 'a.example'), true)
  assert.equal(is('http://A.example:8080/x.png', 'a.example'), true)
  assert.equal(is('https://a.example/x.png', 'a.example:443'), true)
  assert.equal(is('http://a.example/x.png', 'a.example:443'), false)
  assert.equal(is('https://b.a.example/x.png', 'a.example'), false)
  assert.equal(is('https://nota.example/x.png', 'b.example', 'a.example'), false)
})

test('a wildcard is all hosts below a name, and not the name', () => {
  assert.equal(isOfHosts('https://b.a.example/x.png', ['*.a.example']), true)
  assert.equal(isOfHosts('https://c.b.a.example:81/x.png', ['*.a.example']), true)
  assert.equal(isOfHosts('https://a.example/x.png', ['*.a.example']), false)
  assert.equal(isOfHosts('https://nota.example/x.png', ['*.a.example']), false)
})

test('only http and https are loaded, and nothing without hosts', () => {
  assert.equal(isOfHosts('ftp://a.example/x.png', ['a.example']), false)
  assert.equal(isOfHosts('no url', ['a.example']), false)
  assert.equal(isOfHosts('https://a.example/x.png', []), false)
})
