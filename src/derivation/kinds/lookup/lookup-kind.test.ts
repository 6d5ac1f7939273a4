import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ok } from '../../../errors/result.ts'
import { sourceOf } from '../../read-sources.ts'
import { testContract } from '../../testing/test-contract.ts'
import { LookupKind, type LookupSpec } from './lookup-kind.ts'

test('a table whose reading broke off is read again by the next operation', async () => {
  let reads = 0
  const kind = new LookupKind(() => {
    reads += 1
    return reads === 1 ? Promise.reject(new Error('ENOSPC')) : Promise.resolve(ok(new Map()))
  })
  const spec = {
    columns: { key: 'key', match: 'id', values: { n: 'value' } },
    contract: testContract({ n: 'integer' }),
  } as unknown as LookupSpec
  const source = sourceOf('refs/table.csv', Buffer.from('key,value\n'))
  await assert.rejects(kind.withSources(spec, [source]), { message: 'ENOSPC' })
  assert.equal((await kind.withSources(spec, [source])).table.ok, true)
  await kind.withSources(spec, [source])
  assert.equal(reads, 2)
})
