import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { PreviewAnswer } from '../../../../src/wire/definition/preview.ts'
import { messageOf } from '../../api/api-error.ts'
import type { SheetContract } from '../../api/contract.ts'
import { server } from '../../api/server.ts'
import { useSettled } from '../../ui/use-settled.ts'
import { isFormula } from '../forms/member-forms.ts'
import { readForm } from '../forms/form-text.ts'
import { joined, portionsOf } from './portions.ts'
import { NO_GRID, presentOf, rowsFor, type GridRows, type RowChoice } from './preview-rows.ts'
import type { Present } from './preview-text.ts'

const SETTLE_MS = 400

/** The derivation that a preview computes, and the records that can be chosen for it. */
export interface PreviewOptions {
  /** The contract, with fields that are not saved yet. */
  readonly contract: SheetContract
  /** The name of the file. */
  readonly file: string
  readonly text: string
  readonly actor: string
  /** The fields that the derivation fills on the server; null for a new one. */
  readonly targetsNow: readonly string[] | null
  /** The text of a contract that is not saved; null for the present one. */
  readonly contractText?: string | null
  /** The rows of the grid beside it. */
  readonly gridRows?: GridRows
  /** Called with the results, each time that some have arrived. */
  readonly onResult?: ((answer: PreviewAnswer) => void) | undefined
}

/** Results of a preview, of all records or of the first of them. */
export interface PreviewResult {
  readonly text: string
  readonly answer: PreviewAnswer
  /** The present values of the records; null for a new derivation. */
  readonly present: ReadonlyMap<string, Present> | null
}

interface Running {
  /** The last results; null for none yet. */
  readonly result: PreviewResult | null
  /** The error of the last attempt; null for none. */
  readonly error: Error | null
  readonly isBusy: boolean
  /** Whether the preview computes by itself after each change of the text. */
  readonly isLive: boolean
  readonly run: () => Promise<void>
}

const NONE: readonly string[] = []

/**
 * Computes a preview on request, and for a formula, which makes no calls, also when its text has not changed for a moment. Results arrive in
 * portions. A later preview ends an earlier one.
 */
export function usePreview(options: PreviewOptions, choice: RowChoice): Running {
  const { text, contractText = null } = options
  const [result, setResult] = useState<PreviewResult | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const [initialText] = useState(text)
  const settled = useSettled(text, SETTLE_MS)
  const last = useRef<AbortController>(null)
  const isLive = isFormulaText(text)

  const run = async (): Promise<void> => {
    last.current?.abort()
    const own = new AbortController()
    last.current = own
    setIsBusy(true)
    setError(null)
    try {
      for await (const part of compute(options, {
        choice,
        isQuick: isLive,
        signal: own.signal,
      })) {
        if (own.signal.aborted) return
        setResult(part)
        options.onResult?.(part.answer)
      }
    } catch (thrown) {
      if (own.signal.aborted) return
      setError(thrown instanceof Error ? thrown : new Error(messageOf(thrown)))
    }
    if (last.current === own) setIsBusy(false)
  }

  const runLive = useEffectEvent(() => {
    // What was opened is not computed before a person changes it.
    if (settled === text && text !== initialText) void run()
  })
  const inSight = choice === 'sight' ? options.gridRows?.inSight : undefined
  useEffect(() => {
    if (isLive) runLive()
  }, [isLive, settled, choice, contractText, inSight])

  useEffect(() => () => last.current?.abort(), [])

  return { result, error, isBusy, isLive, run }
}

/** Whether a derivation is a formula, which makes no calls. */
export function isFormulaText(text: string): boolean {
  const reading = readForm(text)
  return 'members' in reading && isFormula(reading.members)
}

interface Attempt {
  readonly choice: RowChoice
  /** Whether no record takes long. */
  readonly isQuick: boolean
  readonly signal: AbortSignal
}

/** Yields the results as they grow. */
async function* compute(
  options: PreviewOptions,
  { choice, isQuick, signal }: Attempt,
): AsyncGenerator<PreviewResult> {
  const { contract, file, text, actor, targetsNow, contractText = null, gridRows = NO_GRID } = options
  const ids = await rowsFor(choice, {
    contract,
    text,
    targets: targetsNow ?? NONE,
    gridRows,
    isQuick,
    signal,
  })
  if (ids.length === 0) throw new Error('The sheet has no records')
  const present = new Map<string, Present>()
  let answer: PreviewAnswer | null = null
  for (const part of portionsOf(ids, isQuick)) {
    const further = await server.definition.preview(
      { file, text, ...(contractText !== null && { contract: contractText }), record_ids: [...part] },
      { actor, signal },
    )
    if (targetsNow !== null) {
      const stored = further.targets.filter((target) => targetsNow.includes(target))
      for (const [id, values] of await presentOf(part, stored, signal)) present.set(id, values)
    }
    answer = answer === null ? further : joined(answer, further)
    yield { text, answer, present: targetsNow === null ? null : new Map(present) }
  }
}
