import assert from 'node:assert/strict'
import { test } from 'node:test'
import { siteOf } from './host-key.ts'

const SITES = [
  ['http://api.example/a/b?c#d', 'http://api.example', 'api.example:80'],
  ['http://api.example:8080/a', 'http://api.example:8080', 'api.example:8080'],
  ['http://api.example.evil/a', 'http://api.example.evil', 'api.example.evil:80'],
  ['http://api.example?q', 'http://api.example', 'api.example:80'],
  ['http://api.example', 'http://api.example', 'api.example:80'],
  ['http://api.example@evil/', 'http://evil', 'evil:80'],
  ['http://api.example\\@evil/', 'http://api.example', 'api.example:80'],
  ['https://API.example/', 'https://api.example', 'api.example:443'],
  ['https://[::1]:8443/#x', 'https://[::1]:8443', '[::1]:8443'],
] as const

test('a URL leads to the same site whatever URL came before it', () => {
  for (const [before] of SITES) {
    for (const [url, origin, host] of SITES) {
      siteOf(before)
      const site = siteOf(url)
      assert.deepEqual([site.origin, site.host], [origin, host], `${url} after ${before}`)
      assert.equal(new URL(url).origin, origin)
      assert.ok(url.startsWith(site.start))
    }
  }
})
