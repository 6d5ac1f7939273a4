import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonValue } from '../../contract/json/json.ts'
import { RawJson } from '../../contract/json/raw-json.ts'
import {
  ConflictError,
  OperationError,
  PermissionDeniedError,
  SheetError,
  ValidationError,
} from '../../errors/service-error.ts'
import {
  PROPOSAL_LIMITS,
  type ProposalDetail,
  type ProposalPart,
  type ProposedChange,
  type RecordDifference,
} from '../stored-proposal.ts'
import { refused } from './support/refused.ts'
import { AGENT, HUMAN, IN_TURN, target, TestSheet, type OpenStore } from './support/test-sheet.ts'

const WRITER = 'agent:writer'
const REVIEWER = 'human:bob'
const PROPERTIES = [
  '{name: name, logicalType: string, required: true}',
  '{name: price, logicalType: number}',
  '{name: tags, logicalType: array, items: {logicalType: string}}',
  '{name: code, logicalType: string, unique: true}',
  "{name: secret, logicalType: string, customProperties: [{property: editableBy, value: ['human:bob']}]}",
  "{name: label, logicalType: string, customProperties: [{property: editableBy, value: ['human:*']}]}",
]
const TARGETS = [target('label', ['name'])]

/** Tests of changes that wait for a decision. */
export function testProposals(open: OpenStore): void {
  suite('proposals', IN_TURN, () => {
    const sheet = TestSheet.shared(open, {
      properties: PROPERTIES,
      targets: TARGETS,
      deletableBy: ['human:*'],
    })
    const propose = (change: ProposedChange, actor = WRITER, note: string | null = null): Promise<string> =>
      sheet.store.proposals.propose({ change, actor, note })
    const accept = (
      id: string,
      actor = REVIEWER,
      parts: readonly ProposalPart[] | null = null,
    ): Promise<void> => sheet.store.proposals.accept({ id, actor, parts })
    const reject = (
      id: string,
      reason: string | null = null,
      parts: readonly ProposalPart[] | null = null,
    ): Promise<void> => sheet.store.proposals.reject({ id, actor: REVIEWER, reason, parts })
    const detailOf = async (id: string): Promise<ProposalDetail> => {
      const detail = await sheet.store.proposals.detail(id)
      assert.ok(detail)
      return detail
    }
    const onlyRecord = async (id: string): Promise<RecordDifference> => {
      const [record, ...others] = (await detailOf(id)).records
      assert.deepEqual(others, [])
      assert.ok(record)
      return record
    }
    const lastSeq = async (): Promise<number> => (await sheet.store.history()).last

    test('a proposal changes nothing until it is accepted, and then all of its fields', async () => {
      await sheet.write([{ id: 'a', name: 'Apple', price: 1 }])
      const seq = await lastSeq()
      const { version } = (await sheet.store.record('a', ['id']))!
      const change = {
        records: [
          { id: 'a', name: 'Apple', price: 2, tags: ['x'] },
          { id: 'new', name: 'New' },
        ],
      }
      const id = await propose(change, WRITER, 'prices of May')
      assert.equal((await sheet.get('a'))?.['price'], 1)
      assert.equal(await sheet.get('new'), null)
      assert.equal(await lastSeq(), seq)
      const { proposedAt, records, ...proposal } = await detailOf(id)
      assert.match(proposedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepEqual(proposal, {
        id,
        kind: 'upsert',
        state: 'waiting',
        proposedBy: WRITER,
        note: 'prices of May',
        recordCount: 2,
        decidedBy: null,
        decidedAt: null,
        reason: null,
        decisions: [],
      })
      assert.deepEqual(records, [
        {
          recordId: 'a',
          change: 'update',
          version,
          moved: null,
          decision: null,
          fields: [
            { field: 'price', was: 1, now: 1, proposed: 2, moved: false, decision: null },
            { field: 'tags', was: null, now: null, proposed: ['x'], moved: false, decision: null },
          ],
        },
        {
          recordId: 'new',
          change: 'create',
          version: null,
          moved: null,
          decision: null,
          fields: [{ field: 'name', was: null, now: null, proposed: 'New', moved: false, decision: null }],
        },
      ])
      await accept(id)
      const { label: _label, ...written } = (await sheet.get('a'))!
      assert.deepEqual(written, { id: 'a', name: 'Apple', price: 2, tags: ['x'], code: null, secret: null })
      assert.equal((await sheet.get('new'))?.['name'], 'New')
      const decided = await detailOf(id)
      assert.deepEqual([decided.state, decided.decidedBy, decided.reason], ['accepted', REVIEWER, null])
      assert.deepEqual(
        decided.records.map(({ moved, fields: [field] }) => [moved, field?.was, field?.now, field?.moved]),
        [
          [null, 1, 2, false],
          [null, null, 'New', false],
        ],
      )
    })

    test('an accepted change has both actors in its provenance, and the proposal', async () => {
      await sheet.write([
        { id: 'both', name: 'B' },
        { id: 'gone', name: 'G' },
      ])
      const id = await propose({ records: [{ id: 'both', price: 3 }] })
      const deletion = await propose({ ids: ['gone'] }, 'agent:"quoted"')
      await accept(id)
      await accept(deletion)
      const { seq: _seq, at: _at, ...entry } = (await sheet.latest('both', 'price'))!
      const common = { actor: REVIEWER, source: 'write', proposal: id, proposed_by: WRITER }
      assert.deepEqual(entry, { ...common, record_id: 'both', field: 'price', value: 3, previous: null })
      const deleted = (await sheet.latest('gone', 'name'))!
      assert.deepEqual(
        [deleted['source'], deleted['actor'], deleted['proposed_by'], deleted['proposal']],
        ['delete', REVIEWER, 'agent:"quoted"', deletion],
      )
      await sheet.write([{ id: 'both', price: 4 }])
      assert.ok(!Object.hasOwn((await sheet.latest('both', 'price'))!, 'proposal'))
    })

    test('a proposal is refused for the same reasons as a write, except the permissions of the proposer', async () => {
      await sheet.write([{ id: 'taken', name: 'T', code: 'c1' }])
      const wrong: [JsonValue, RegExp][] = [
        [{ id: 'x' }, /field "name": is required/],
        [{ id: 'taken', price: 'dear' }, /records\[0\] \(id "taken"\), field "price"/],
        [{ id: 'taken', nothing: 1 }, /the contract has no such field/],
        [{ id: 'x', name: 'X', code: 'c1' }, /must be unique, but record "taken" has "c1" already/],
        [{ id: 'a,b', name: 'X' }, /field "id"/],
      ]
      for (const [record, message] of wrong) {
        const change = { records: [record] } as ProposedChange
        assert.match(await refused(sheet, () => propose(change), ValidationError), message)
      }
      const id = await propose({ records: [{ id: 'taken', secret: 's' }] })
      assert.match(
        await refused(sheet, () => accept(id, 'human:ann'), PermissionDeniedError),
        /actor "human:ann" may not write it/,
      )
      assert.equal((await detailOf(id)).state, 'waiting')
      await accept(id)
      assert.equal((await sheet.get('taken'))?.['secret'], 's')
    })

    test('D7: accepting a deletion requires the permission to delete', async () => {
      await sheet.write([{ id: 'kept', name: 'K' }])
      const id = await propose({ ids: ['kept', 'nobody', 'kept'] })
      assert.equal((await detailOf(id)).recordCount, 1)
      await refused(sheet, () => accept(id, 'agent:other'), PermissionDeniedError)
      await accept(id)
      assert.equal(await sheet.get('kept'), null)
    })

    test('actors cannot accept their own proposals, but can withdraw them', async () => {
      await sheet.write([{ id: 'own', name: 'O' }])
      const id = await propose({ records: [{ id: 'own', price: 1 }] }, HUMAN)
      assert.match(
        await refused(sheet, () => accept(id, HUMAN), PermissionDeniedError),
        /made proposal \d+, and somebody else has to accept it/,
      )
      await sheet.store.proposals.reject({ id, actor: HUMAN, reason: 'a mistake' })
      const { state, decidedBy, reason } = await detailOf(id)
      assert.deepEqual([state, decidedBy, reason], ['rejected', HUMAN, 'a mistake'])
    })

    test('a decision is final', async () => {
      await sheet.write([{ id: 'once', name: 'O' }])
      const [accepted, rejected] = [
        await propose({ records: [{ id: 'once', price: 1 }] }),
        await propose({ records: [{ id: 'once', price: 2 }] }),
      ]
      await accept(accepted)
      await reject(rejected)
      await sheet.write([{ id: 'once', price: null }])
      for (const [id, state] of [
        [accepted, 'accepted'],
        [rejected, 'rejected'],
      ] as const) {
        for (const decide of [() => accept(id), () => reject(id)]) {
          await assert.rejects(decide, (error) => {
            assert.ok(error instanceof ConflictError)
            assert.match(
              error.message,
              new RegExp(`proposal ${id} does not wait any more: "human:bob" ${state} it`),
            )
            return true
          })
        }
        assert.equal((await detailOf(id)).state, state)
      }
      assert.equal((await sheet.get('once'))?.['price'], null)
    })

    test('of two concurrent acceptances one succeeds', async () => {
      await sheet.write([{ id: 'race', name: 'R', price: 0 }])
      const id = await propose({ records: [{ id: 'race', price: 1 }] })
      const outcomes = await Promise.allSettled([accept(id), accept(id, HUMAN), reject(id)])
      const settled = outcomes.map(({ status }) => status).toSorted()
      assert.deepEqual(settled, ['fulfilled', 'rejected', 'rejected'])
      assert.equal((await sheet.history('race', 'price')).length, 2)
    })

    test('a change of a field in the proposal prevents its acceptance, and it keeps waiting; one of another field does not', async () => {
      await sheet.write([
        { id: 'm1', name: 'One', price: 1, tags: ['a'] },
        { id: 'm2', name: 'Two', price: 2 },
      ])
      const id = await propose({
        records: [
          { id: 'm1', price: 10, tags: ['b'] },
          { id: 'm2', price: 20 },
        ],
      })
      await sheet.write([
        { id: 'm1', name: 'Uno' },
        { id: 'm2', price: 3 },
      ])
      const message = await refusedByMove(id)
      assert.match(message, /record "m2", field "price": was 2 then and is 3 now; reject it/)
      assert.doesNotMatch(message, /m1/)
      const { records } = await detailOf(id)
      assert.deepEqual(
        records.map(({ recordId, moved }) => [recordId, moved]),
        [
          ['m1', null],
          ['m2', 'changed'],
        ],
      )
      assert.deepEqual(records[1]?.fields, [
        { field: 'price', was: 2, now: 3, proposed: 20, moved: true, decision: null },
      ])
      await sheet.write([{ id: 'm2', price: 2 }])
      await accept(id)
      assert.deepEqual(
        [
          (await sheet.get('m1'))?.['name'],
          (await sheet.get('m1'))?.['price'],
          (await sheet.get('m2'))?.['price'],
        ],
        ['Uno', 10, 20],
      )
    })

    /** Asserts that a proposal is not accepted since its records have changed; returns the message. */
    const refusedByMove = async (id: string): Promise<string> => {
      const [before, seq] = [await sheet.all(), await lastSeq()]
      let message = ''
      await assert.rejects(accept(id), (error) => {
        assert.ok(error instanceof ConflictError, String(error))
        message = error.message
        return true
      })
      assert.match(message, /^the records have moved since proposal \d+ was made, and nothing was changed: /)
      assert.deepEqual([await sheet.all(), await lastSeq()], [before, seq])
      assert.equal((await detailOf(id)).state, 'waiting')
      return message
    }

    const cell = (recordId: string, ...fields: string[]): ProposalPart => ({ recordId, fields })
    const record = (recordId: string): ProposalPart => ({ recordId, fields: null })

    /** Returns the decisions on the parts of a proposal, by record and field. */
    const partsOf = async (id: string): Promise<object> =>
      Object.fromEntries(
        (await detailOf(id)).records.map(({ recordId, fields }) => [
          recordId,
          Object.fromEntries(fields.map(({ field, decision }) => [field, decision])),
        ]),
      )

    test('parts are accepted and rejected by record and field, and the others wait', async () => {
      await sheet.write([
        { id: 'p1', name: 'One', price: 1 },
        { id: 'p2', name: 'Two', price: 2 },
      ])
      const id = await propose({
        records: [
          { id: 'p1', name: 'Uno', price: 10, tags: ['x'] },
          { id: 'p2', name: 'Due', price: 20 },
        ],
      })
      const { changes } = await sheet.store.proposals.counts()
      await accept(id, REVIEWER, [cell('p1', 'price'), cell('p1', 'price', 'tags')])
      assert.equal((await sheet.store.proposals.counts()).changes, changes + 1)
      const p1 = await sheet.get('p1')
      assert.deepEqual([p1?.['name'], p1?.['price'], p1?.['tags']], ['One', 10, ['x']])
      assert.equal((await sheet.get('p2'))?.['price'], 2)
      const { actor, proposal, proposed_by: by } = (await sheet.latest('p1', 'price'))!
      assert.deepEqual([actor, proposal, by], [REVIEWER, id, WRITER])
      assert.deepEqual(await partsOf(id), {
        p1: { name: null, price: 'accepted', tags: 'accepted' },
        p2: { name: null, price: null },
      })
      await reject(id, 'too dear', [record('p2')])
      const waiting = await detailOf(id)
      assert.deepEqual(
        [waiting.state, waiting.decidedBy, waiting.records.map(({ decision }) => decision)],
        ['waiting', null, [null, 'rejected']],
      )
      await accept(id, HUMAN)
      const { state, decidedBy, decisions, records } = await detailOf(id)
      assert.deepEqual([state, decidedBy], ['accepted', HUMAN])
      assert.deepEqual(
        decisions.map((made) => [made.state, made.by, made.reason]),
        [
          ['accepted', REVIEWER, null],
          ['rejected', REVIEWER, 'too dear'],
          ['accepted', HUMAN, null],
        ],
      )
      assert.deepEqual(
        records.map(({ decision }) => decision),
        ['accepted', 'rejected'],
      )
      assert.equal((await sheet.get('p1'))?.['name'], 'Uno')
      assert.equal((await sheet.get('p2'))?.['name'], 'Two')
      assert.equal((await sheet.history('p1', 'price')).length, 2)
    })

    test('a proposal of which a part was accepted is accepted, even if the rest is rejected; one without is rejected', async () => {
      await sheet.write([{ id: 'rest', name: 'R' }])
      const change = { records: [{ id: 'rest', name: 'S', price: 1 }] }
      const [mixed, refusedAll] = [await propose(change), await propose(change)]
      await accept(mixed, REVIEWER, [cell('rest', 'price')])
      await reject(mixed, 'wrong name')
      await reject(refusedAll, null, [cell('rest', 'price')])
      await reject(refusedAll, null, [cell('rest', 'name')])
      const [first, second] = [await detailOf(mixed), await detailOf(refusedAll)]
      assert.deepEqual([first.state, first.reason], ['accepted', 'wrong name'])
      assert.deepEqual(await partsOf(mixed), { rest: { name: 'rejected', price: 'accepted' } })
      assert.equal(second.state, 'rejected')
      assert.equal((await sheet.get('rest'))?.['name'], 'R')
    })

    test('only a change of what is accepted prevents that, and what is decided no longer counts', async () => {
      await sheet.write([{ id: 'pm', name: 'P', price: 1 }])
      const id = await propose({ records: [{ id: 'pm', name: 'Q', price: 2, tags: ['x'] }] })
      await sheet.write([{ id: 'pm', price: 5 }])
      await assert.rejects(accept(id, REVIEWER, [cell('pm', 'name', 'price')]), ConflictError)
      assert.equal((await sheet.get('pm'))?.['name'], 'P')
      await accept(id, REVIEWER, [cell('pm', 'name')])
      await sheet.write([{ id: 'pm', name: 'Later' }])
      assert.match(await refusedByMove(id), /field "price": was 1 then and is 5 now; reject it/)
      const { moved, fields } = await onlyRecord(id)
      assert.deepEqual([moved, fields.map((field) => field.moved)], ['changed', [false, true, false]])
      await reject(id, null, [cell('pm', 'price')])
      assert.equal((await onlyRecord(id)).moved, null)
      await accept(id)
      assert.deepEqual((await sheet.get('pm'))?.['tags'], ['x'])
      assert.equal((await sheet.get('pm'))?.['name'], 'Later')
    })

    test('a part of a record to be created creates it, as far as the contract allows, and the rest waits to change it', async () => {
      const id = await propose({ records: [{ id: 'pc', name: 'C', price: 1, code: 'pc' }] })
      assert.match(
        await refused(sheet, () => accept(id, REVIEWER, [cell('pc', 'price')]), ValidationError),
        /field "name": is required/,
      )
      await accept(id, REVIEWER, [cell('pc', 'name', 'price')])
      assert.deepEqual((await sheet.get('pc'))?.['code'], null)
      const { change, moved } = await onlyRecord(id)
      assert.deepEqual([change, moved], ['update', null])
      await sheet.store.delete(['pc'], HUMAN)
      assert.match(await refusedByMove(id), /record "pc" has been deleted/)
      await sheet.write([{ id: 'pc', name: 'C' }])
      assert.match(await refusedByMove(id), /deleted and created again/)
      await reject(id)
      const other = await propose({ records: [{ id: 'pd', name: 'D', code: 'pd' }] })
      await accept(other, REVIEWER, [cell('pd', 'name')])
      await accept(other)
      assert.equal((await sheet.get('pd'))?.['code'], 'pd')
    })

    test('deletions are decided by record', async () => {
      await sheet.write([
        { id: 'pd1', name: 'D' },
        { id: 'pd2', name: 'D', price: 1 },
      ])
      const id = await propose({ ids: ['pd1', 'pd2'] })
      assert.match(
        await refused(sheet, () => accept(id, REVIEWER, [cell('pd1', 'name')]), ValidationError),
        /deletes record "pd1", which is decided as a whole; leave its fields out/,
      )
      await accept(id, REVIEWER, [record('pd2')])
      assert.equal(await sheet.get('pd2'), null)
      assert.deepEqual(
        (await detailOf(id)).records.map(({ decision, moved }) => [decision, moved]),
        [
          [null, null],
          ['accepted', null],
        ],
      )
      await reject(id, 'in use', [record('pd1')])
      assert.equal((await detailOf(id)).state, 'accepted')
      assert.ok(await sheet.get('pd1'))
    })

    test('what a proposal does not have, and what is decided, is refused; permissions are those of what is accepted', async () => {
      await sheet.write([
        { id: 'pr', name: 'R' },
        { id: 'other', name: 'O' },
      ])
      const id = await propose({
        records: [
          { id: 'pr', price: 1, secret: 's' },
          { id: 'other', price: 1 },
        ],
      })
      await assert.rejects(
        accept(id, REVIEWER, [record('nobody')]),
        (thrown) =>
          thrown instanceof SheetError && /^proposal \d+ has no record "nobody"$/.test(thrown.message),
      )
      assert.match(
        await refused(sheet, () => accept(id, REVIEWER, [cell('pr', 'name')]), ValidationError),
        /does not change field "name" of record "pr"$/,
      )
      await refused(sheet, () => accept(id, WRITER, [cell('pr', 'price')]), PermissionDeniedError)
      await refused(sheet, () => accept(id, 'human:ann', [record('pr')]), PermissionDeniedError)
      await accept(id, 'human:ann', [cell('pr', 'price'), record('other')])
      for (const part of [cell('pr', 'price'), record('other')]) {
        for (const decide of [() => accept(id, REVIEWER, [part]), () => reject(id, null, [part])]) {
          await assert.rejects(
            decide,
            (thrown) => thrown instanceof ConflictError && /does not wait any more/.test(thrown.message),
          )
        }
      }
      assert.equal((await sheet.get('pr'))?.['secret'], null)
    })

    test('long values are compared like others; one that no proposal could have stays JSON text', async () => {
      const tags = Array.from({ length: 50_000 }, (_, index) => `é ${index}`)
      await sheet.write([
        { id: 'l1', name: 'One', tags },
        { id: 'l2', name: 'Two', tags },
        { id: 'l3', name: 'Three' },
      ])
      const change = ['l1', 'l2', 'l3'].map((id) => ({ id, name: id, tags: ['short'] }))
      const id = await propose({ records: change })
      const text = 'é'.repeat(6 << 20)
      await sheet.write([
        { id: 'l2', tags: [...tags.slice(1), 'e'] },
        { id: 'l3', tags: [text] },
      ])
      const { records } = await detailOf(id)
      assert.deepEqual(
        records.map(({ moved, fields }) => [moved, fields.map((field) => [field.field, field.moved])]),
        [
          [
            null,
            [
              ['name', false],
              ['tags', false],
            ],
          ],
          [
            'changed',
            [
              ['name', false],
              ['tags', true],
            ],
          ],
          [
            'changed',
            [
              ['name', false],
              ['tags', true],
            ],
          ],
        ],
      )
      const [now, , tooLong] = records.map(({ fields }) => fields.at(-1)?.now)
      assert.deepEqual(now, tags)
      assert.ok(tooLong instanceof RawJson)
      assert.equal(JSON.stringify(tooLong), JSON.stringify([text]))
    })

    test('so does a record that was created, deleted, or deleted and recreated', async () => {
      await sheet.write([
        { id: 'goes', name: 'G' },
        { id: 'returns', name: 'R' },
      ])
      const cases: [id: string, moved: string, message: RegExp][] = [
        [await propose({ records: [{ id: 'comes', name: 'C' }] }), 'created', /record "comes" exists by now/],
        [
          await propose({ records: [{ id: 'goes', price: 1 }] }),
          'deleted',
          /record "goes" has been deleted;/,
        ],
        [await propose({ ids: ['goes'] }), 'deleted', /record "goes" has been deleted;/],
        [
          await propose({ records: [{ id: 'returns', price: 1 }] }),
          'recreated',
          /record "returns" has been deleted and created again/,
        ],
        [await propose({ ids: ['returns'] }), 'recreated', /deleted and created again/],
      ]
      await sheet.store.delete(['goes', 'returns'], HUMAN)
      await sheet.write([
        { id: 'comes', name: 'C' },
        { id: 'returns', name: 'R' },
      ])
      for (const [id, moved, message] of cases) {
        assert.match(await refusedByMove(id), message)
        assert.equal((await onlyRecord(id)).moved, moved)
        await reject(id)
        assert.equal((await onlyRecord(id)).moved, null)
      }
    })

    test('a deletion cannot be accepted after a later write, except that of a computed value', async () => {
      await sheet.write([{ id: 'del', name: 'D', price: 1 }])
      const id = await propose({ ids: ['del'] })
      await sheet.write([{ id: 'del', code: 'added' }])
      assert.match(await refusedByMove(id), /field "code": was null then and is "added" now/)
      await sheet.write([{ id: 'del', code: null }])
      await sheet.compute('del', 'label', 'computed')
      const { change, moved, fields } = await onlyRecord(id)
      assert.deepEqual([change, moved], ['delete', null])
      assert.deepEqual(
        fields.map(({ field, was, now, proposed }) => [field, was, now, proposed]),
        [
          ['name', 'D', 'D', null],
          ['price', 1, 1, null],
          ['label', null, 'computed', null],
        ],
      )
      await accept(id)
      assert.equal(await sheet.get('del'), null)
    })

    test('D28: a derived field may be proposed; accepted, it is overridden', async () => {
      await sheet.write([{ id: 'der', name: 'D' }])
      const id = await propose({ records: [{ id: 'der', label: 'by hand' }] }, AGENT)
      await sheet.compute('der', 'label', 'computed')
      assert.match(await refusedByMove(id), /field "label": was null then and is "computed" now/)
      await reject(id)
      const again = await propose({ records: [{ id: 'der', label: 'by hand' }] }, AGENT)
      await accept(again)
      const [overridden] = (await sheet.workOf('der', 'label')).cells
      assert.equal(overridden?.state, 'overridden')
    })

    test('unchanged values are not part of a proposal; one without changes is refused', async () => {
      await sheet.write([
        { id: 's1', name: 'S', price: 1, tags: ['t'] },
        { id: 's2', name: 'S' },
      ])
      const same = { id: 's1', name: 'S', price: 1, tags: ['t'], code: null }
      const id = await propose({ records: [same, { id: 's2', name: 'other' }] })
      assert.deepEqual(
        (await detailOf(id)).records.map(({ recordId }) => recordId),
        ['s2'],
      )
      for (const change of [{ records: [same] }, { records: [] }, { ids: ['nobody', 'lone\ud800'] }]) {
        await assert.rejects(
          propose(change),
          (error) =>
            error instanceof OperationError && error.message.startsWith('there is nothing to propose: '),
        )
      }
    })

    test('records with the same id are merged', async () => {
      const records = [
        { id: 'twice', name: 'first', price: 1 },
        { id: 'twice', name: 'second' },
      ]
      const id = await propose({ records })
      const { fields, change } = await onlyRecord(id)
      assert.deepEqual([change, fields.map(({ proposed }) => proposed)], ['create', ['second', 1]])
      await accept(id)
      assert.equal((await sheet.history('twice', 'name')).length, 1)
    })

    test('a violation of the contract at the time of the decision prevents the acceptance', async () => {
      await sheet.write([
        { id: 'u1', name: 'U' },
        { id: 'u2', name: 'U' },
      ])
      const id = await propose({ records: [{ id: 'u1', code: 'free' }] })
      await sheet.write([{ id: 'u2', code: 'free' }])
      assert.match(await refused(sheet, () => accept(id), ValidationError), /must be unique/)
      assert.equal((await detailOf(id)).state, 'waiting')
    })

    test('an invalid id is the id of no proposal', async () => {
      for (const id of ['0', '01', '999999', 'x', '']) {
        assert.equal(await sheet.store.proposals.get(id), null)
        assert.equal(await sheet.store.proposals.detail(id), null)
        for (const decide of [() => accept(id), () => reject(id)]) {
          await assert.rejects(
            decide,
            (error) => error instanceof SheetError && error.message.startsWith('no proposal "'),
          )
        }
      }
    })

    test('ids are ascending; lists are newest first, by state, in pages; and every change is counted', async () => {
      const { proposals } = sheet.store
      await sheet.write([{ id: 'list', name: 'L' }])
      const before = await proposals.counts()
      const ids: string[] = []
      for (let price = 100; price < 104; price += 1)
        ids.push(await propose({ records: [{ id: 'list', price }] }))
      assert.deepEqual(
        ids.map((id) => Number(id) - Number(ids[0])),
        [0, 1, 2, 3],
      )
      await reject(ids[1]!)
      const after = await proposals.counts()
      assert.deepEqual([after.waiting - before.waiting, after.changes - before.changes], [3, 5])
      const list = async (query: Partial<Parameters<typeof proposals.list>[0]>): Promise<string[]> =>
        (await proposals.list({ state: null, before: null, limit: 2, ...query })).map(({ id }) => id)
      assert.deepEqual(await list({}), [ids[3], ids[2]])
      assert.deepEqual(await list({ before: ids[2]! }), [ids[1], ids[0]])
      assert.deepEqual(await list({ state: 'waiting', before: ids[2]!, limit: 1 }), [ids[0]])
      assert.equal((await list({ state: 'rejected', limit: 1 }))[0], ids[1])
    })

    test('a waiting proposal survives the closing of the store', async () => {
      await sheet.write([{ id: 'stays', name: 'S' }])
      const id = await propose({ records: [{ id: 'stays', price: 1 }] })
      const detail = await detailOf(id)
      await sheet.reopen()
      assert.deepEqual(await detailOf(id), detail)
      const [next] = [await propose({ records: [{ id: 'stays', price: 2 }] })]
      assert.equal(Number(next), Number(id) + 1)
    })

    test('the records and bytes of a proposal are limited', async () => {
      const { records: most, bytes } = PROPOSAL_LIMITS
      const many = Array.from({ length: most + 1 }, (_, index) => ({ id: `many${index}`, name: 'M' }))
      assert.match(
        await refused(sheet, () => propose({ records: many }), ValidationError),
        /^a proposal has at most 1000 records, got 1001; propose them in parts$/,
      )
      assert.match(
        await refused(sheet, () => propose({ ids: many.map(({ id }) => id) }), ValidationError),
        /at most 1000 records/,
      )
      assert.match(
        await refused(
          sheet,
          () => propose({ records: [{ id: 'long', name: 'x'.repeat(bytes) }] }),
          ValidationError,
        ),
        /^a proposal takes at most 4194304 bytes/,
      )
      const id = await propose({ records: many.slice(1) })
      await accept(id)
      assert.equal((await sheet.get('many1000'))?.['name'], 'M')
    })
  })

  test('the number of waiting proposals is limited', async (t) => {
    const sheet = await TestSheet.make(t, open, { properties: ['{name: text, logicalType: string}'] })
    const { proposals } = sheet.store
    const propose = (id: string, text = 'x'): Promise<string> =>
      proposals.propose({ change: { records: [{ id, text }] }, actor: WRITER, note: null })
    const { waiting } = PROPOSAL_LIMITS
    const large = 'x'.repeat(100_000)
    const rejected = await propose('rejected', large)
    await proposals.reject({ id: rejected, actor: HUMAN, reason: null })
    await propose('large', large)
    await Promise.all(Array.from({ length: waiting - 1 }, (_, index) => propose(`n${index}`)))
    // Bytes are counted as proposals are, only while these wait: rules/proposal-rules.test.ts is about the limits of both.
    await assert.rejects(propose('too many'), (error: unknown) => {
      assert.ok(error instanceof ConflictError)
      const [, bytes] = /^1000 proposals of (\d+) bytes wait already/.exec(error.message) ?? []
      assert.ok(Number(bytes) > 100_000 && Number(bytes) < 400_000, error.message)
      return true
    })
    assert.equal((await proposals.counts()).waiting, waiting)
    await proposals.accept({ id: String(Number(rejected) + 1), actor: HUMAN })
    await propose('room again')
  })

  test('D2: in a new store beside an earlier log, ids continue', async (t) => {
    const line = { seq: 1, at: '2026-01-01T00:00:00.000Z', actor: HUMAN, source: 'write', proposal: '41' }
    const written = { proposed_by: WRITER, record_id: 'a', values: { id: 'a' }, previous: { id: null } }
    const sheet = await TestSheet.make(t, open, {
      properties: ['{name: text, logicalType: string}'],
      log: [{ ...line, ...written }],
    })
    const change = { records: [{ id: 'b', text: 'x' }] }
    assert.equal(await sheet.store.proposals.propose({ change, actor: WRITER, note: null }), '42')
  })
}
