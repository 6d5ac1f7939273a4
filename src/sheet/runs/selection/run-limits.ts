import { ValidationError } from '../../../errors/service-error.ts'

/** Limits of the lists of one run, checked before anything is stored. */
export const RUN_LIMITS = {
  /** The most items of `targets`. */
  targets: 2000,
  /** The most items of `record_ids`. */
  records: 100_000,
  /** The maximum size of either list, in bytes of UTF-8. */
  bytes: 4 * 1024 * 1024,
  /** The most failures, one for each target of a record that does not exist (D29). */
  absent: 50_000,
} as const

/** The lists of a run. */
interface RunLists {
  readonly targets: readonly string[] | null
  readonly recordIds: readonly string[] | null
}

/** Throws ValidationError for lists beyond {@link RUN_LIMITS}. */
export function checkLists({ targets, recordIds }: RunLists): void {
  checkList('targets', targets ?? [], RUN_LIMITS.targets)
  checkList('record_ids', recordIds ?? [], RUN_LIMITS.records)
}

/** Returns the lists without repeats (D12). */
export function distinctLists({ targets, recordIds }: RunLists): RunLists {
  return {
    targets: targets === null ? null : [...new Set(targets)],
    recordIds: recordIds === null ? null : [...new Set(recordIds)],
  }
}

/** Throws ValidationError when records that do not exist would make too many failures (D29). */
export function checkAbsent(absent: readonly string[], targets: number): void {
  const failures = absent.length * targets
  if (failures <= RUN_LIMITS.absent) return
  throw new ValidationError(
    `record_ids names ${absent.length} records that do not exist, beginning with ${JSON.stringify(absent[0]?.slice(0, 80))}: ` +
      `${failures} failures with ${targets} ${targets === 1 ? 'target' : 'targets'}, and at most ${RUN_LIMITS.absent} are possible; leave out ids that do not exist`,
    'too_many_items',
  )
}

function checkList(name: string, list: readonly string[], most: number): void {
  if (list.length > most) {
    throw new ValidationError(
      `${name} has ${list.length} items; at most ${most} are possible, ask in parts`,
      'too_many_items',
    )
  }
  const bytes = list.reduce((sum, item) => sum + Buffer.byteLength(item), 0)
  if (bytes > RUN_LIMITS.bytes) {
    throw new ValidationError(
      `${name} has ${bytes} bytes; at most ${RUN_LIMITS.bytes} are possible, ask in parts`,
      'too_many_items',
    )
  }
}
