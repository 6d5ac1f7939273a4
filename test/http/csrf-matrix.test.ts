import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { listRoutes } from '../support/app-routes.ts'
import { listen, startApp } from '../support/http-fixture.ts'
import { onEnd } from '../support/on-end.ts'
import { send } from '../support/send.ts'

/*
 * D37 as a matrix: what arrives as cookie, against what arrives as header, on every route. Beside each way of sending
 * the cookie stands the value that counts.
 */

const OURS = 'A-_'.repeat(14) + 'z'
/** Well-formed, as whoever plants a cookie from another port of the host would make it. */
const PLANTED = 'P-_'.repeat(14) + 'z'

const COOKIES: readonly [headers: readonly string[], counts: string | null][] = [
  [[], null],
  [[''], null],
  [['theme=dark'], null],
  [[`csrf=${OURS}`], null],
  [[`SVC_CSRF=${OURS}`], null],
  [[`xsvc_csrf=${OURS}`], null],
  [['svc_csrf'], null],
  [['svc_csrf='], ''],
  [[`svc_csrf=${OURS}`], OURS],
  [[`theme=dark; svc_csrf=${OURS}; lang=en`], OURS],
  [[`theme=dark;svc_csrf=${OURS};lang=en`], OURS],
  [[`svc_csrf = ${OURS}`], OURS],
  [['theme=dark', `svc_csrf=${OURS}`], OURS],
  // A cookie planted for /api comes before one for /. The first counts, for reads and writes alike.
  [[`svc_csrf=${PLANTED}; svc_csrf=${OURS}`], PLANTED],
  [[`svc_csrf=${PLANTED}`, `svc_csrf=${OURS}`], PLANTED],
  [[`svc_csrf=${OURS}; svc_csrf=`], OURS],
  [[`svc_csrf=; svc_csrf=${OURS}`], ''],
  [['svc_csrf=short'], 'short'],
  [[`svc_csrf=${OURS}x`], `${OURS}x`],
  [[`svc_csrf=${OURS.slice(1)}`], OURS.slice(1)],
  [[`svc_csrf=${OURS.slice(1)}+`], `${OURS.slice(1)}+`],
  [[`svc_csrf=${OURS.slice(3)}%41`], `${OURS.slice(3)}%41`],
  [[`svc_csrf=a=b`], 'a=b'],
  [['__proto__=x; constructor=y'], null],
]

const TOKENS: readonly (readonly string[])[] = [
  [],
  [''],
  [OURS],
  [OURS.toLowerCase()],
  [PLANTED],
  ['short'],
  [OURS.slice(1)],
  [`${OURS}x`],
  ['a=b'],
  [`${OURS.slice(3)}%41`],
  [`${OURS.slice(3)}A`],
  [OURS, OURS],
  ['undefined'],
  ['null'],
]

const JSON_TYPE = ['Content-Type', 'application/json'] as const

test('D37: a write passes exactly if header and cookie are present, not empty and equal', async (t) => {
  const { app, takeFrames } = await startApp(t)
  const routes = listRoutes(app)
  const target = { port: await listen(app), agent: new Agent({ keepAlive: true }) }
  onEnd(t, () => target.agent.destroy())
  const writes = routes.filter(
    ({ method, path }) => (method === 'POST' && path !== '/api/query') || method === 'DELETE',
  )
  assert.ok(writes.length >= 5)
  let passed = 0
  for (const { method, path } of writes) {
    for (const [cookies, counts] of COOKIES) {
      for (const tokens of TOKENS) {
        const passes = tokens.length === 1 && counts !== null && counts !== '' && tokens[0] === counts
        const answer = await send(target, {
          method,
          path: path.replaceAll(/:\w+/g, 'nothing'),
          headers: [
            ['Host', 'localhost'],
            ...cookies.map((value) => ['Cookie', value] as const),
            ...tokens.map((value) => ['X-CSRF-Token', value] as const),
            JSON_TYPE,
          ],
          // Refused after the CSRF check, so that what passes changes nothing either.
          ...(method === 'POST' && { body: '{"nothing":1}' }),
        })
        const about = `${method} ${path} ${JSON.stringify([cookies, tokens])} -> ${answer.status} ${answer.body}`
        assert.equal(answer.status === 403, !passes, about)
        assert.equal(answer.headers['set-cookie'], undefined, about)
        if (passes) passed++
        else
          assert.match(
            answer.body,
            /"PermissionDeniedError","message":"CSRF token missing or invalid"/,
            about,
          )
      }
    }
  }
  assert.ok(passed > writes.length * 10)
  assert.deepEqual(await takeFrames(), [])
})

test('D37: every route that reads keeps a well-formed cookie, and replaces any other', async (t) => {
  const { app } = await startApp(t)
  const routes = listRoutes(app)
  const target = { port: await listen(app), agent: new Agent({ keepAlive: true }) }
  onEnd(t, () => target.agent.destroy())
  const reads = routes.filter(({ method, path }) => ['GET', 'HEAD'].includes(method) || path === '/api/query')
  assert.ok(reads.length >= 20)
  const issued = new Set<string>()
  let fresh = 0
  for (const { method, path } of [...reads, { method: 'GET', path: '/api/nowhere' }]) {
    for (const [cookies, counts] of COOKIES) {
      const answer = await send(target, {
        method,
        path: path.replaceAll(/:\w+/g, 'nothing'),
        headers: [['Host', 'localhost'], ...cookies.map((value) => ['Cookie', value] as const)],
      })
      const about = `${method} ${path} ${JSON.stringify(cookies)}`
      const [set = '', ...more] = answer.headers['set-cookie'] ?? []
      assert.deepEqual(more, [], about)
      const [, token = ''] = /^svc_csrf=([A-Za-z0-9_-]{43}); Path=\/; SameSite=Strict$/.exec(set) ?? []
      assert.notEqual(token, '', `${about}: ${set}`)
      if (path === '/api/csrf' && method === 'GET')
        assert.deepEqual(JSON.parse(answer.body), { csrf_token: token })
      if (counts === OURS || counts === PLANTED) {
        assert.equal(token, counts, about)
        continue
      }
      issued.add(token)
      fresh++
    }
  }
  assert.equal(issued.size, fresh)
  assert.ok(!issued.has(OURS) && !issued.has(PLANTED))
})
