import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { SECURITY_HEADERS } from '../../src/http/middleware/security-headers.ts'
import { assertEnvelope, startApp, type TestApp } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'

async function startPages(t: TestContext): Promise<TestApp & { readonly directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-pages-'))
  onEnd(t, () => rm(directory, { recursive: true }))
  await mkdir(join(directory, 'assets'))
  await writeFile(join(directory, 'index.html'), '<!doctype html><title>page</title>')
  await writeFile(join(directory, 'icon.svg'), '<svg/>')
  await writeFile(join(directory, 'assets', 'main-1.js'), 'export {}')
  await writeFile(join(directory, 'secret.txt'), 'not for you')
  return { ...(await startApp(t, { app: { pages: directory } })), directory }
}

test('the page is served at all of its addresses, and runs only scripts of the service', async (t) => {
  const { app } = await startPages(t)
  for (const url of ['/', '/?sort=-area', '/sql', '/runs', '/runs/12', '/derivations', '/contract']) {
    const { statusCode, headers, body } = await app.inject({ url, headers: { host: 'localhost' } })
    assert.deepEqual([statusCode, body], [200, '<!doctype html><title>page</title>'], url)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/)
    const { 'content-security-policy': _own, ...others } = SECURITY_HEADERS
    for (const [name, value] of Object.entries(others)) assert.equal(headers[name], value, name)
  }
})

test('the page may load images of the hosts that are allowed, and names them to the viewer', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-pages-'))
  onEnd(t, () => rm(directory, { recursive: true }))
  await mkdir(join(directory, 'assets'))
  await writeFile(join(directory, 'index.html'), '<head></head>')
  const imageHosts = ['a.example', '*.b.example:8443']
  const { app } = await startApp(t, { app: { pages: directory, imageHosts } })
  const { headers, body } = await app.inject({ url: '/', headers: { host: 'localhost' } })
  assert.match(
    String(headers['content-security-policy']),
    / img-src 'self' data: https:\/\/a\.example:\* http:\/\/a\.example:\* https:\/\/\*\.b\.example:8443 http:\/\/\*\.b\.example:8443; font-src 'self';/,
  )
  assert.match(body, /<meta name="image-hosts" content="a\.example \*\.b\.example:8443" \/>/)
})

test('files of the page are cached by the browser, since their names change with their contents', async (t) => {
  const { app } = await startPages(t)
  const script = await app.inject('/assets/main-1.js')
  assert.match(String(script.headers['content-type']), /javascript/)
  assert.equal(script.headers['cache-control'], 'private, max-age=31536000, immutable')
  const icon = await app.inject('/icon.svg')
  assert.deepEqual([icon.statusCode, icon.headers['cache-control']], [200, 'private, no-cache'])
})

test('a page with the same size and time but other contents has another tag', async (t) => {
  const { app, directory } = await startPages(t)
  const page = join(directory, 'index.html')
  const time = new Date('1985-10-26T08:15:00Z')
  await utimes(page, time, time)
  const { etag } = (await app.inject('/')).headers
  const again = { url: '/', headers: { host: 'localhost', 'if-none-match': String(etag) } }
  assert.equal((await app.inject(again)).statusCode, 304)
  await writeFile(page, '<!doctype html><title>next</title>')
  await utimes(page, time, time)
  const next = await app.inject(again)
  assert.deepEqual([next.statusCode, next.body], [200, '<!doctype html><title>next</title>'])
})

test('files of the page are compressed', async (t) => {
  const { app, directory } = await startPages(t)
  const script = `export const text = '${'x'.repeat(5000)}'`
  await writeFile(join(directory, 'assets', 'large-1.js'), script)
  for (const method of ['GET', 'HEAD'] as const) {
    const headers = { host: 'localhost', 'accept-encoding': 'gzip' }
    const answer = await app.inject({ method, url: '/assets/large-1.js', headers })
    assert.equal(answer.headers['content-encoding'], 'gzip')
    assert.equal(answer.headers['content-length'], undefined)
    assert.equal(answer.headers.vary, 'Accept-Encoding')
    if (method === 'GET') assert.equal(gunzipSync(answer.rawPayload).toString(), script)
  }
  const part = await app.inject({
    url: '/assets/large-1.js',
    headers: { 'accept-encoding': 'gzip', range: 'bytes=0-5' },
  })
  assert.deepEqual([part.statusCode, part.body, part.headers['content-encoding']], [206, 'export', undefined])
})

test('D36: nothing else is served from there, and a missing file is a 404 with an envelope', async (t) => {
  const { app } = await startPages(t)
  for (const url of [
    '/secret.txt',
    '/assets/',
    '/assets/none.js',
    '/assets/../secret.txt',
    '/assets/%2e%2e/secret.txt',
    '/assets/..%2fsecret.txt',
    '/assets/..%5csecret.txt',
    '/assets/%00',
    '/index.html',
    '/runs/1/2',
  ]) {
    const response = await app.inject(url)
    assert.ok([400, 403, 404].includes(response.statusCode), `${url} ${response.statusCode}`)
    const { error } = response.json<{ error: { type: string; message: string } }>()
    assertEnvelope(response, error.type, /./)
    assert.doesNotMatch(response.body, /not for you|colophon-pages/)
  }
  assert.equal((await app.inject({ method: 'POST', url: '/sql' })).statusCode, 405)
})

test('D38: a link from another site opens the page', async (t) => {
  const { app } = await startPages(t)
  const marks = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  assert.equal((await app.inject({ url: '/', headers: { host: 'localhost', ...marks } })).statusCode, 200)
  const script = { ...marks, 'sec-fetch-dest': 'script', 'sec-fetch-mode': 'no-cors' }
  assert.equal(
    (await app.inject({ url: '/assets/main-1.js', headers: { host: 'localhost', ...script } })).statusCode,
    403,
  )
})
