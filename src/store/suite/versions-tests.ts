import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonObject } from '../../contract/json/json.ts'
import {
  PermissionDeniedError,
  PreconditionFailedError,
  ValidationError,
} from '../../errors/service-error.ts'
import type { Upsert } from '../sheet-store.ts'
import { refused } from './support/refused.ts'
import { AGENT, HUMAN, IN_TURN, target, TestSheet, type OpenStore } from './support/test-sheet.ts'

/** Tests of the versions of records, and of writes for one of them. */
export function testVersions(open: OpenStore): void {
  suite('versions', IN_TURN, () => {
    const sheet = TestSheet.shared(open, {
      properties: [
        '{name: name, logicalType: string, required: true}',
        '{name: n, logicalType: integer}',
        '{name: owned, logicalType: string, x-editable-by: ["agent:*"]}',
        '{name: label, logicalType: string}',
      ],
      targets: [target('label', ['name'])],
      deletableBy: ['human:*'],
    })

    const versionOf = async (id: string, fields?: readonly string[]): Promise<string> => {
      const record = await sheet.store.record(id, fields ?? sheet.fields)
      assert.ok(record, id)
      return record.version
    }
    const upsert = (records: readonly JsonObject[], ifMatch: Upsert['ifMatch'], actor = HUMAN) =>
      sheet.upsert({ body: { records, actor }, ifMatch })
    const fails = (act: () => Promise<unknown>): Promise<string> =>
      refused(sheet, act, PreconditionFailedError)

    test('the version of a record is the same for any fields read, and equals that of the response to the write', async () => {
      const { version } = await sheet.write([{ id: 'a', name: 'A' }])
      assert.equal(typeof version, 'string')
      for (const fields of [sheet.fields, ['id'], ['n', 'name'], ['id']]) {
        assert.equal(await versionOf('a', fields), version)
      }
    })

    test('ifAbsent writes only new records, and nothing if one of them exists', async () => {
      const create = (...ids: readonly string[]): Promise<unknown> =>
        sheet.upsert({
          body: { records: ids.map((id) => ({ id, name: 'N' })), actor: HUMAN },
          ifAbsent: true,
        })
      await create('new-1', 'new-2')
      assert.match(await fails(() => create('new-3', 'new-2')), /record "new-2" exists already/)
      assert.equal(await sheet.store.record('new-3', ['id']), null)
      await sheet.store.delete(['new-2'], HUMAN)
      await create('new-2', 'new-3')
    })

    test('the version changes with every value of the record, computed ones included, and with nothing else', async () => {
      const seen = new Set<string>()
      const changes = async (act: () => Promise<unknown>): Promise<void> => {
        await act()
        const version = await versionOf('v')
        assert.ok(!seen.has(version), `version ${version} again`)
        seen.add(version)
      }
      const stays = async (act: () => Promise<unknown>): Promise<void> => {
        const before = await versionOf('v')
        await act()
        assert.equal(await versionOf('v'), before)
      }
      await changes(() => sheet.write([{ id: 'v', name: 'V' }]))
      await changes(() => sheet.write([{ id: 'v', n: 1 }]))
      await changes(() => sheet.write([{ id: 'v', n: null }]))
      await changes(() => sheet.compute('v', 'label', '<V>'))
      await stays(() => sheet.compute('v', 'label', '<V>', 'another hash'))
      await stays(() => sheet.fail('v', 'label'))
      await stays(() => sheet.write([{ id: 'v', name: 'V', n: null }]))
      await stays(() => sheet.write([{ id: 'w', name: 'W' }]))
      await stays(() => refused(sheet, () => sheet.write([{ id: 'v', n: 1.5 }]), ValidationError))
      await changes(async () => {
        await sheet.store.delete(['v'], HUMAN)
        await sheet.write([{ id: 'v', name: 'V' }])
      })
    })

    test('only a response to the write of exactly one record has a version, also if it changes nothing', async () => {
      const { version } = await sheet.write([{ id: 'one', name: 'N' }])
      assert.equal((await sheet.write([{ id: 'one', name: 'N' }])).version, version)
      assert.equal(
        (
          await sheet.write([
            { id: 'one', n: 1 },
            { id: 'one', n: 2 },
          ])
        ).version,
        null,
      )
      assert.equal((await sheet.write([])).version, null)
    })

    test('a write for the present version succeeds, also if further versions are named, and for any with *', async () => {
      let { version } = await sheet.write([{ id: 'm', name: 'M' }])
      for (const n of [1, 2, 3]) {
        assert.ok(version !== null)
        const condition = ([[version], ['x', version, 'W/"1"'], '*'] as const)[n - 1] ?? null
        const before = version
        ;({ version } = await upsert([{ id: 'm', n }], condition))
        assert.notEqual(version, before)
        assert.equal(await versionOf('m'), version)
        assert.equal((await sheet.get('m'))?.['n'], n)
      }
    })

    test('D36: a write for another version changes nothing, and its error has the present version', async () => {
      const { version: old } = await sheet.write([{ id: 's', name: 'S' }])
      const { version } = await sheet.write([{ id: 's', n: 1 }])
      assert.ok(old !== null && version !== null)
      const message = await fails(() => upsert([{ id: 's', n: 2 }], [old]))
      assert.match(
        message,
        new RegExp(`^record "s" has version ${version} .* for version ${old}; .* read the record again`),
      )
      for (const condition of [[], ['0'], [`0${version}`], [`W/"${version}"`], [` ${version}`]]) {
        await fails(() => upsert([{ id: 's', n: 2 }], condition))
      }
      const log = await sheet.history('s', 'n')
      assert.deepEqual(
        log.map(({ value }) => value),
        [1],
      )
    })

    test('D36: a conditional write creates no record, neither for a new id nor for a deleted one', async () => {
      const { version } = await sheet.write([{ id: 'gone', name: 'G' }])
      assert.ok(version !== null)
      await sheet.store.delete(['gone'], HUMAN)
      for (const id of ['gone', 'never', '\ud800', 'x'.repeat(600)]) {
        for (const condition of ['*', [version]] as const) {
          assert.match(
            await fails(() => upsert([{ id, name: 'N' }], condition)),
            /^record "[^ ]+ does not exist, /,
          )
        }
      }
      await sheet.write([{ id: 'gone', name: 'G' }])
      await fails(() => upsert([{ id: 'gone', n: 1 }], [version]))
    })

    test('D36: with a condition the shape of the request is checked first, then the actor, the condition, permission, contract', async () => {
      const { version } = await sheet.write([{ id: 'o', name: 'O' }])
      assert.ok(version !== null)
      const wrong = { id: 'o', n: 'x', owned: 'x' }
      for (const records of [[], [{ id: 'o' }, { id: 'p' }], [{ id: 'o' }, { id: 'o' }]]) {
        assert.match(
          await refused(sheet, () => upsert(records, ['0']), ValidationError),
          /about one record, and "records" has [02]/,
        )
      }
      const nobody = (): Promise<unknown> => sheet.upsert({ body: { records: [wrong] }, ifMatch: ['0'] })
      assert.match(await refused(sheet, nobody, ValidationError), /^actor is required$/)
      await fails(() => upsert([wrong], ['0']))
      await refused(sheet, () => upsert([wrong], [version]), PermissionDeniedError)
      await refused(sheet, () => upsert([wrong], [version], AGENT), ValidationError)
      for (const record of [{ name: 'N' }, { id: 7, name: 'N' }]) {
        await refused(sheet, () => upsert([record], '*'), ValidationError)
      }
    })

    test('an imported record has a version, which a write can name', async (t) => {
      const records = [{ id: 'a' }, { id: 'b' }]
      const { store } = await TestSheet.make(t, open, {
        properties: ['{name: n, logicalType: integer}'],
        records,
      })
      const { version } = (await store.record('b', ['id'])) ?? assert.fail('no record')
      const body = { records: [{ id: 'b', n: 1 }] }
      const { version: next } = await store.upsert({ body, defaultActor: HUMAN, ifMatch: [version] })
      assert.notEqual(next, version)
      assert.equal((await store.record('a', ['id']))?.version, version)
    })

    test('of many concurrent writes for one version, one succeeds', async () => {
      const { version } = await sheet.write([{ id: 'race', name: 'R', n: 0 }])
      assert.ok(version !== null)
      const other = await sheet.openAnother()
      try {
        const writes = Array.from({ length: 40 }, (_, index) => {
          const store = index % 2 === 0 ? sheet.store : other
          const body = { records: [{ id: 'race', n: index + 1 }], actor: HUMAN }
          return store.upsert({ body, defaultActor: null, ifMatch: [version] }).then(
            () => index + 1,
            (error: unknown) =>
              error instanceof PreconditionFailedError ? null : assert.fail(String(error)),
          )
        })
        const done = (await Promise.all(writes)).filter((n) => n !== null)
        assert.equal(done.length, 1)
        assert.equal((await sheet.get('race'))?.['n'], done[0])
        assert.equal((await sheet.history('race', 'n')).length, 2)
      } finally {
        await other.close()
      }
    })

    test('a deletion can name a version too', async () => {
      const { version: old } = await sheet.write([{ id: 'd', name: 'D' }])
      const { version } = await sheet.write([{ id: 'd', n: 1 }])
      assert.ok(old !== null && version !== null)
      for (const condition of [[old], []]) await fails(() => sheet.store.delete(['d'], HUMAN, condition))
      for (const condition of ['*', [version]] as const) {
        assert.match(
          await fails(() => sheet.store.delete(['none'], HUMAN, condition)),
          /^record "none" does not exist/,
        )
      }
      await fails(() => sheet.store.delete(['d'], AGENT, [old]))
      await refused(sheet, () => sheet.store.delete(['d'], AGENT, [version]), PermissionDeniedError)
      assert.equal((await sheet.store.delete(['d'], HUMAN, [old, version])).deleted, 1)
      await sheet.write([{ id: 'd', name: 'D' }])
      assert.equal((await sheet.store.delete(['d'], HUMAN, '*')).deleted, 1)
    })
  })
}
