import type { RunOrder } from '../../../../src/client/client.ts'
import { isOnly } from './run-order.ts'

/** The options of a run as form input. */
export interface RunOptions {
  readonly force: boolean
  /** Whether manual values are overwritten, if all cells are recomputed. */
  readonly overwriteManual: boolean
  /** Empty for all pending cells. */
  readonly only: string
  readonly limit: string
  readonly maxCalls: string
  readonly maxCost: string
  /** Whether kept responses are used instead of calls. */
  readonly reuse: boolean
  /** The number of consecutive failures that ends the run; empty or 0 for none. */
  readonly stopAfter: string
}

/** The default in the viewer; REST has none. */
const USUAL_STOP_AFTER = 20

export type OptionErrors = Partial<Record<'limit' | 'maxCalls' | 'maxCost' | 'stopAfter', string>>

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

/** Whether the run overwrites manual values: only a run of all cells can. */
function overwrites({ force, only, overwriteManual }: RunOptions): boolean {
  return force && !isOnly(only) && overwriteManual
}

function textOf(bound: number | undefined): string {
  return bound === undefined ? '' : String(bound)
}

/** Returns the order with the options, and the errors of the form. */
export function withOptions(
  order: RunOrder,
  options: RunOptions,
): { readonly order: RunOrder; readonly errors: OptionErrors } {
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
    errors: {
      ...(typeof limit === 'string' ? { limit } : {}),
      ...(typeof maxCalls === 'string' ? { maxCalls } : {}),
      ...(typeof maxCost === 'string' ? { maxCost } : {}),
      ...(typeof stopAfter === 'string' ? { stopAfter } : {}),
    },
  }
}

/** Parses a number; returns null for an empty text, or the error as text. */
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
