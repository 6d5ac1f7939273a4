import { makesCalls, type Derivation, type RunContext } from '../definition/derivation-kind.ts'
import type { Price } from '../plan/budget.ts'
import type { PlannedItem } from '../plan/planner.ts'
import { actualCost, type CallOutcome } from './call-outcome.ts'
import type { Answer, Answers } from './call-results.ts'
import type { CellOfRun } from '../run-request.ts'
import type { PartsOfRun } from './parts-of-run.ts'

/** A call to begin. */
interface CallToBegin {
  readonly planned: Pick<PlannedItem, 'derivation' | 'plan'>
  /** The record that it is made for. */
  readonly recordId: string
  readonly answer: Answer
  /** Settles when its result is stored. */
  readonly stored: Promise<void>
  /** Whether its result is still needed. */
  isWanted(): boolean | Promise<boolean>
  /** Carries out steps; absent for a kind without steps. */
  readonly step?: RunContext['step']
  /** Counts a result of a step. */
  readonly onStepResult?: RunContext['onStepResult']
  /** Receives what it cost in dollars, before its outcome is known. */
  onSettled?(cost: Price): void
}

/** Begins the call of an answer, counts it and settles its cost. Returns false, and begins nothing, if the bounds of the run refuse it. */
export function beginCall(
  { planner, budget, tally, streak, signal }: PartsOfRun,
  answers: Answers,
  { planned, recordId, answer, stored, isWanted, step, onStepResult, onSettled }: CallToBegin,
): boolean {
  if (streak.stopped !== null) return false
  const price = planner.price(planned)
  const isCall = makesCalls(planned.derivation.kind)
  const isBegun = isCall && !answers.isReusable(answer)
  if (isBegun && !budget.begin(price)) return false
  let isReserved = isBegun
  let begun = false
  let sent = false
  let isFree = false
  const onBegun = (): void => {
    if (begun) return
    begun = true
    if (isCall) tally.begun()
    tally.computing(cellsOf(answer), stored)
  }
  const giveBack = (): void => {
    if (isReserved) budget.giveBack(price)
    isReserved = false
  }
  answers.call(
    answer,
    {
      derivation: planned.derivation,
      plan: planned.plan,
      price,
      isBegun,
      begin: () => (isReserved = budget.begin(price)),
    },
    {
      signal,
      policies: planner.request.policies,
      limiter: planner.request.limiter,
      hosts: planner.request.store.hosts,
      formulas: planner.request.store.formulas,
      ...(step !== undefined && {
        step: (...given: Parameters<typeof step>) => {
          onBegun()
          return step(...given)
        },
      }),
      ...(onStepResult !== undefined && { onStepResult }),
      origin: { derivation: planned.derivation.file, recordId },
      onRecorded: (call) => answer.recorded.push(call),
      onBegun,
      onSent: () => {
        onBegun()
        if (!sent) tally.sent(price)
        sent = true
      },
      onFree: () => (isFree = true),
      wanted: () => {
        const settle = (wanted: boolean): boolean => {
          // A call that has been tried once has been made.
          if (!wanted && !begun) giveBack()
          return wanted
        }
        if (streak.stopped !== null) return settle(false)
        const wanted = isWanted()
        return wanted === true ? true : Promise.resolve(wanted).then(settle)
      },
      stored,
      onKept: () => (answer.isAwaited = true),
    },
  )
  const settle = (outcome: CallOutcome | null): void => {
    const isKnown = outcome !== null && begun
    const given = isFree ? 0 : price
    const actual = isKnown ? actualCost(outcome, { price, wasSent: sent }) : given
    if (isReserved) budget.settle(price, actual)
    if (sent && actual !== price) tally.settled(price, actual)
    onSettled?.(isKnown && sent ? actual : 0)
  }
  answer.call?.then(settle, () => settle(null))
  return true
}

/** The cells that wait for the call of an answer. */
function cellsOf({ waiting }: Answer): CellOfRun[] {
  return waiting.flatMap(({ item, cells }) =>
    cells.map(({ target }) => ({ recordId: item.id, field: target })),
  )
}

/** Counts a call of this process that has failed, or brought a value. */
export function noteOutcome(
  { signal, streak }: PartsOfRun,
  { file, kind, resources, targets }: Derivation,
  { values, failed }: CallOutcome,
): void {
  // A formula that cannot be computed for some records says nothing of the next ones.
  if (!makesCalls(kind)) return
  const [first] = Object.values(failed ?? {})
  const isFailed = first !== undefined && Object.keys(failed ?? {}).length === targets.length
  // What is broken off with the run says nothing of the host.
  if (signal.aborted || Object.keys(values).length === 0) return
  streak.note(resources[0]?.name ?? file, isFailed ? first.error : null)
}
