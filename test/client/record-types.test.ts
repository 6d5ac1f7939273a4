import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, type Client, type RecordPatch } from '../../src/client/client.ts'
import type { RecordAnswer } from '../../src/wire/records/records.ts'

// The type check proves what these tests are named for: each `@ts-expect-error` fails it when there is no error.

interface Country {
  readonly id: string
  readonly name: string
  readonly area: number | null
  readonly capital?: string
}

// oxlint-disable-next-line typescript/consistent-type-definitions -- a type alias is what is tested
type Offer = { id: 'a' | 'b'; title: string; price?: number | null }

/** A client whose server gives every request the same answer. */
function clientOf<R extends object = RecordAnswer>(answer: object): Client<R> {
  const fetch = (): Promise<Response> => Promise.resolve(Response.json({ csrf_token: 'token', ...answer }))
  return createClient<R>({ baseUrl: 'http://127.0.0.1', fetch })
}

const CH: Country = { id: 'CH', name: 'Switzerland', area: null }

test('records of a client can be typed by an interface', async () => {
  const client = clientOf<Country>({ records: [CH], next_cursor: null })
  const [country] = (await client.records.list()).records
  const name: string | undefined = country?.name
  const area: number | null | undefined = country?.area
  const capital: string | undefined = country?.capital
  assert.deepEqual([name, area, capital], ['Switzerland', null, undefined])
  // @ts-expect-error -- the interface has no such member
  assert.equal(country?.population, undefined)
  for await (const { id } of client.records.all()) assert.equal(id satisfies string, 'CH')
  for await (const page of client.records.pages())
    assert.equal(page[0]?.id satisfies string | undefined, 'CH')
  assert.deepEqual((await client.records.getVersioned('CH')).version satisfies string | null, null)
})

test('records of a client can be typed by a type alias', async () => {
  const { id, title, price }: Offer = await clientOf<Offer>({ id: 'a', title: 'Apple' }).records.get('a')
  // @ts-expect-error -- it may be absent, and null
  const certain: number = price
  assert.deepEqual([id satisfies 'a' | 'b', title, certain], ['a', 'Apple', undefined])
})

test('a record that was read can be written, as a whole and in part, with null to clear a field', async () => {
  const { records, proposals } = clientOf<Country>({})
  await records.upsert([CH])
  await records.upsert([{ id: 'CH', capital: null }, { id: 'CH', name: undefined }, { id: 'CH' }])
  await proposals.propose({ records: [CH], note: 'why' })
  await proposals.propose({ ids: ['CH'] })
  // @ts-expect-error -- the interface has no such member
  await records.upsert([{ id: 'CH', population: 9 }])
  // @ts-expect-error -- of another type
  await records.upsert([{ id: 'CH', area: '41284' }])
  // @ts-expect-error -- a record is known by its id
  await records.upsert([{ name: 'Switzerland' }])
  // @ts-expect-error -- either records or ids
  await proposals.propose({ records: [CH], ids: ['CH'] })
  // @ts-expect-error -- either records or ids
  await proposals.propose({ note: 'why' })
})

test('without a type, records have any members', async () => {
  const { records } = clientOf({ id: 'a', title: 'Apple' })
  const patch: RecordPatch = { id: 'a', title: 'Apple', anything: [1] }
  await records.upsert([patch, { id: 'b', price: 2 }])
  const { title } = await records.get('a')
  // @ts-expect-error -- of an unknown type
  const text: string = title
  assert.equal(text, 'Apple')
})
