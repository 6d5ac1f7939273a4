import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { benchId } from './bench-sheet.ts'

/** The contract of the sheet of 9 fields, for programs that are compared: short values, and indexes on two fields. */
export const ORDERS_CONTRACT = `apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
schema:
  - name: orders
    properties:
      - {name: id, logicalType: string, primaryKey: true, required: true}
      - {name: name, logicalType: string}
      - {name: customer, logicalType: string, x-indexed: true}
      - {name: kind, logicalType: string}
      - {name: amount, logicalType: number, x-indexed: true}
      - {name: count, logicalType: integer}
      - {name: active, logicalType: boolean}
      - {name: day, logicalType: date}
      - {name: note, logicalType: string}
`

/** The fields with an index. */
export const INDEXED_FIELDS = ['customer', 'amount'] as const

/** Each customer has this many orders. */
const ORDERS_EACH = 100

const MOST_AMOUNT = 12_500

export interface Order {
  readonly id: string
  readonly name: string
  readonly customer: string
  readonly kind: string
  readonly amount: number
  readonly count: number
  readonly active: boolean
  readonly day: string
  readonly note: string
}

/** Returns the record with this number, counted from 1; the same number makes the same record. */
export function orderRecord(number: number): Order {
  return {
    id: benchId(number),
    name: `name ${(number * 31) % 99_991}`,
    customer: customerOf(number),
    kind: `kind ${(number * 7) % 12}`,
    amount: ((number * 7919) % (MOST_AMOUNT * 8)) / 8,
    count: (number * 7919) % 10_000_019,
    active: number % 3 === 0,
    day: `2026-${String((number % 12) + 1).padStart(2, '0')}-${String((number % 28) + 1).padStart(2, '0')}`,
    note: `note ${number % 1009}`,
  }
}

/** Returns `size` records for an upsert into a sheet of `records`: half of them are there with other values, half are new. */
export function changedOrders(records: number, size: number, round: number): Order[] {
  const known = Math.min(records, Math.ceil(size / 2))
  return Array.from({ length: size }, (_, index) => {
    const { id } = orderRecord(index < known ? index + 1 : records + 1 + round * size + index)
    return { ...orderRecord((round + 1) * 1_000_003 + index), id }
  })
}

/** A condition and an order: the 50 largest orders of a customer, of at least an amount. */
export interface OrderFilter {
  readonly customer: string
  readonly atLeast: number
}

/** Returns filters that differ each time, so that no program can respond with an earlier page. */
export function orderFilters(records: number): () => OrderFilter {
  let turn = 0
  return () => {
    turn += 1
    return { customer: customerOf(((turn * 7919) % records) + 1), atLeast: turn / 1000 }
  }
}

/** Writes records 1 to `records` as CSV, with a header. */
export async function writeOrdersCsv(path: string, records: number): Promise<void> {
  const out = createWriteStream(path)
  out.write(`${Object.keys(orderRecord(1)).join(',')}\n`)
  for (let number = 1; number <= records; number += 1) {
    if (!out.write(`${Object.values(orderRecord(number)).join(',')}\n`)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
}

function customerOf(number: number): string {
  return `c${String(Math.floor((number - 1) / ORDERS_EACH)).padStart(6, '0')}`
}
