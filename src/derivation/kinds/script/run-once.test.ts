import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SecretGuard } from '../../transport/guard/secret-guard.ts'
import { exitText } from './run-once.ts'

test('D23: a secret that contains a path of the machine is found before that path is replaced', () => {
  const guard = new SecretGuard(['/srv/sheets/mine/k3y-0f-the-script'])
  const end = {
    status: 1,
    stderr: 'cannot open /srv/sheets/mine/k3y-0f-the-script',
    shown: 'cannot open /sheet/k3y-0f-the-script',
  }
  assert.equal(exitText(end, { guard }), 'exit status 1: [withheld: it repeats a secret of env]')
  assert.equal(
    exitText(end, { guard: new SecretGuard([]) }),
    'exit status 1: cannot open /sheet/k3y-0f-the-script',
  )
})
