import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { onEnd } from '../../test/support/on-end.ts'
import { OFFERS, writeSheet } from '../../test/support/sheet-fixture.ts'
import { temporaryFile } from '../../test/support/temporary-file.ts'
import { ContractError, RecordsError } from '../errors/service-error.ts'
import { openSheet } from './open-sheet.ts'
import { startStoreThread } from './store-thread.ts'

test('an unused thread does not keep the process alive', async (t) => {
  const module = JSON.stringify(import.meta.resolve('./store-thread.ts'))
  // A file: the thread would not start with what a program on the command line is started with.
  const program = `import { startStoreThread } from ${module}; startStoreThread('sheet')`
  const { path } = await temporaryFile(t, 'program.mjs', program)
  const child = spawn(process.execPath, [path], { stdio: 'inherit' })
  onEnd(t, () => child.kill())
  assert.deepEqual(await once(child, 'exit'), [0, null])
})

test('a sheet whose contract is fixed later uses the thread that was started for it', async (t) => {
  const directory = await writeSheet(t, { contract: 'nonsense' })
  const storeThread = startStoreThread(directory) ?? assert.fail()
  const sheet = await openSheet(directory, { storeThread })
  onEnd(t, () => sheet.close())
  await assert.rejects(sheet.current(), ContractError)
  await writeFile(join(directory, 'contract.yaml'), OFFERS.contract)
  const { store } = await sheet.current()
  assert.equal((await store.status()).total, 3)
  await sheet.close()
  await assert.rejects(storeThread.call('close', null), /the store is closed/)
})

test('a thread whose store could not be opened is replaced', async (t) => {
  const directory = await writeSheet(t)
  await writeFile(join(directory, 'records.jsonl'), 'nonsense')
  const sheet = await openSheet(directory, { storeThread: startStoreThread(directory) })
  onEnd(t, () => sheet.close())
  await assert.rejects(sheet.current(), RecordsError)
  await rm(join(directory, 'records.jsonl'))
  const { store } = await sheet.current()
  assert.equal((await store.status()).total, 0)
})
