import type { RunOrder } from '../../../../src/client/client.ts'
import { isOnly } from './run-order.ts'

/** What can be chosen of a run, as the form has it. */
export interface RunOptions {
  readonly force: boolean
  /** Whether values written by hand are overwritten, where everything is computed again. */
  readonly overwriteManual: boolean
  /** Empty for all that needs it. */
  readonly only: string
  readonly limit: string
  readonly maxCalls: string
  readonly maxCost: string
  /** Whether kept responses are used instead of calls, where there are any. */
  readonly reuse: boolean
  /** Failures in a row that end the run; empty or 0 for none. */
  readonly stopAfter: string
}

/** Unless somebody chooses otherwise. REST goes on over failures. */
const USUAL_STOP_AFTER = 20

export type OptionFaults = Partial<Record<'limit' | 'maxCalls' | 'maxCost' | 'stopAfter', string>>

export function optionsOf(order: RunOrder): RunOptions {
  return {
    force: order.force === true,
    overwriteManual: order.overwrite_manual === true,
    only: order.only ?? '',
    limit: textOf(order.limit),
    maxCalls: textOf(order.max_calls),
    maxCost: textOf(order.max_cost),
    reuse: order.reuse_responses === true,
    stopAfter: textOf(order.stop_after_failures ?? USUAL_STOP_AFTER),
  }
}

/** Whether a run of these options overwrites values written by hand: those that compute cells of one state never do. */
function overwrites({ force, only, overwriteManual }: RunOptions): boolean {
  return force && !isOnly(only) && overwriteManual
}

function textOf(bound: number | undefined): string {
  return bound === undefined ? '' : String(bound)
}

/** The order with the options put in, and what is wrong with them. */
export function withOptions(
  order: RunOrder,
  options: RunOptions,
): { readonly order: RunOrder; readonly faults: OptionFaults } {
  const limit = wholeNumber(options.limit, 1)
  const maxCalls = wholeNumber(options.maxCalls, 0)
  const maxCost = dollars(options.maxCost)
  const stopAfter = wholeNumber(options.stopAfter, 0)
  const { targets, record_ids, keep_fresh } = order
  return {
    order: {
      ...(targets === undefined ? {} : { targets }),
      ...(record_ids === undefined ? {} : { record_ids }),
      ...(keep_fresh === undefined ? {} : { keep_fresh }),
      ...(options.force ? { force: true } : {}),
      ...(overwrites(options) ? { overwrite_manual: true } : {}),
      ...(isOnly(options.only) ? { only: options.only } : {}),
      ...(typeof limit === 'number' ? { limit } : {}),
      ...(typeof maxCalls === 'number' ? { max_calls: maxCalls } : {}),
      ...(typeof maxCost === 'number' ? { max_cost: maxCost } : {}),
      ...(options.reuse ? { reuse_responses: true } : {}),
      ...(typeof stopAfter === 'number' && stopAfter > 0 ? { stop_after_failures: stopAfter } : {}),
    },
    faults: {
      ...(typeof limit === 'string' ? { limit } : {}),
      ...(typeof maxCalls === 'string' ? { maxCalls } : {}),
      ...(typeof maxCost === 'string' ? { maxCost } : {}),
      ...(typeof stopAfter === 'string' ? { stopAfter } : {}),
    },
  }
}

/** A number, null for an empty text, or what is wrong. */
function wholeNumber(text: string, least: number): number | null | string {
  const plain = text.trim().replaceAll(',', '')
  if (plain === '') return null
  const number = Number(plain)
  return /^\d+$/.test(plain) && Number.isSafeInteger(number) && number >= least
    ? number
    : `A whole number, at least ${least}.`
}

function dollars(text: string): number | null | string {
  const plain = text
    .trim()
    .replace(/^\$\s*/, '')
    .replaceAll(',', '')
  if (plain === '') return null
  return /^(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : 'Dollars, such as 0.50.'
}
