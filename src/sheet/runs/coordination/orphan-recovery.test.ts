import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onEnd } from '../../../../test/support/on-end.ts'
import { writeSheet } from '../../../../test/support/sheet-fixture.ts'
import { openSheet } from '../../open-sheet.ts'
import { OrphanRecovery } from './orphan-recovery.ts'

test('a directory that is broken is logged once, and is not read again and again for runs of other processes', async (t) => {
  const logged: string[] = []
  const log = (_details: object, message: string): void => void logged.push(message)
  const sheet = await openSheet(await writeSheet(t, { contract: 'kind: Nonsense\n' }), {
    logger: { info: log, warn: log, error: log },
  })
  onEnd(t, () => sheet.close())
  await sheet.current().catch(() => undefined)
  assert.equal(logged.length, 1, logged.join('\n'))
  await new OrphanRecovery(sheet).stop()
  assert.deepEqual(logged.slice(1), [])
})
