import { useEffect, useRef, useState } from 'react'
import type { PreviewAnswer } from '../../../../src/wire/definition/preview.ts'
import { messageOf } from '../../api/api-error.ts'
import { server } from '../../api/server.ts'
import { Button } from '../../ui/button.tsx'
import { formatDuration } from '../../ui/format.ts'
import { AnswerTree } from './answer-tree.tsx'
import { parsePartialJson } from './partial-json.ts'
import type { PreviewOf } from './preview-of.ts'

type Row = PreviewAnswer['records'][number]

interface TryRowProps {
  readonly preview: PreviewOf
  /** The title of the field that a click on a value fills. */
  readonly fills: string
  readonly onAnswer: () => void
  /** Called with the path of a chosen value, and the value. */
  readonly onPick: (path: string, value: unknown) => void
}

/** Makes the request for one record, and shows its response as a tree in which values are chosen. */
export function TryRow({ preview, fills, onAnswer, onPick }: TryRowProps) {
  const [row, setRow] = useState<Row | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const [tries, setTries] = useState(0)
  const result = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (row !== null) result.current?.scrollIntoView({ block: 'nearest' })
  }, [row])
  const tryRow = async (): Promise<void> => {
    setIsBusy(true)
    setError(null)
    const { file, text, contractText, actor } = preview
    try {
      const order = {
        file,
        text,
        sample: 1,
        seed: tries,
        ...(contractText !== null && { contract: contractText }),
      }
      const answer = await server.definition.preview(order, { actor })
      setRow(answer.records[0] ?? null)
      setTries(tries + 1)
      if (answer.records.length === 0) setError(new Error('The sheet has no records to try it on'))
      else onAnswer()
    } catch (thrown) {
      setRow(null)
      setError(thrown instanceof Error ? thrown : new Error(messageOf(thrown)))
    }
    setIsBusy(false)
  }
  return (
    <section className="try-row" aria-label="Response for one row">
      <div className="try-row-head">
        <Button disabled={isBusy} onClick={() => void tryRow()}>
          {isBusy ? 'Waiting for the response…' : row === null ? 'Try one row' : 'Try another row'}
        </Button>
        <span className="form-hint">Makes the request for one record</span>
      </div>
      <div ref={result} role="status">
        {error !== null && <p className="form-error">{error.message}</p>}
        {row !== null && <Response row={row} fills={fills} onPick={onPick} />}
      </div>
    </section>
  )
}

function Response({ row, fills, onPick }: Pick<TryRowProps, 'fills' | 'onPick'> & { readonly row: Row }) {
  const [failure] = Object.values(row.failures)
  const body = row.response?.body ?? failure?.response_body ?? null
  const json = body === null ? null : parsePartialJson(body)
  return (
    <>
      <p className="form-hint try-request">
        <code>{row.record_id}</code> {row.request !== null && <code>{row.request}</code>}
        {row.response !== null && <> · {row.response.status}</>}
        {row.calls > 0 && <> · {formatDuration(row.ms)}</>}
      </p>
      {row.response === null && failure !== undefined && <p className="form-error">{failure.error}</p>}
      {row.blocked_by !== null && (
        <p className="form-error">
          {row.blocked_by.field} has no value for this record, so that there is no request.
        </p>
      )}
      {json !== null && (
        <>
          <p className="form-hint">
            Click the value for <strong>{fills}</strong>.
            {json.isCut && ' The response is long: only its beginning is shown.'}
          </p>
          <AnswerTree value={json.value} fills={fills} onPick={onPick} />
        </>
      )}
      {json === null && body !== null && <pre className="try-body">{body.slice(0, 4000)}</pre>}
    </>
  )
}
