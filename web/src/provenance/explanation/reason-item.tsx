import { Link } from 'wouter'
import type { CellReasonAnswer } from '../../../../src/wire/runs/status.ts'
import type { SheetContract } from '../../api/contract.ts'
import { LineDiff, WordDiff } from '../diff/diff-view.tsx'
import { plainValue } from '../diff/full-value.tsx'
import { shortHash } from './origin.tsx'
import { derivationPath } from '../history/sentence-view.tsx'
import { ValueChange } from '../diff/value-change.tsx'

interface ReasonItemProps {
  readonly contract: SheetContract
  /** The derivation file of the cell. */
  readonly derivation: string
  readonly reason: CellReasonAnswer
  /** Selects a cell of the same record. */
  readonly onSelect: (field: string) => void
}

/** One change since the cell was computed, before and after. */
export function ReasonItem({ contract, derivation, reason, onSelect }: ReasonItemProps) {
  switch (reason.part) {
    case 'input': {
      const type = contract.fieldByName.get(reason.field)?.type ?? null
      return (
        <>
          <p>
            <FieldButton contract={contract} name={reason.field} onSelect={onSelect} /> changed
          </p>
          <ValueChange type={type} was={reason.was} is={reason.is} />
        </>
      )
    }
    case 'derivation':
      return <DerivationEdited derivation={derivation} reason={reason} />
    case 'url':
      return (
        <>
          <p>{reason.is === null ? 'The inputs no longer give a request' : 'The request changed'}</p>
          <p className="url-change">
            {reason.is === null ? <del>{reason.was}</del> : <WordDiff was={reason.was} is={reason.is} />}
          </p>
        </>
      )
    case 'body':
      return (
        <>
          <p>The body of the request changed</p>
          <LineDiff was={bodyText(reason.was)} is={bodyText(reason.is)} />
        </>
      )
    case 'member':
      return (
        <>
          <p>
            <code>{reason.name}</code> changed
          </p>
          <LineDiff was={bodyText(reason.was)} is={bodyText(reason.is)} />
        </>
      )
  }
}

function bodyText(body: unknown): string {
  return body === null ? '' : plainValue(body)
}

type DerivationReason = Extract<CellReasonAnswer, { part: 'derivation' }>

function DerivationEdited({
  derivation,
  reason,
}: {
  readonly derivation: string
  readonly reason: DerivationReason
}) {
  const { was, is, was_text: wasText, is_text: isText } = reason
  return (
    <>
      <p>
        <Link href={derivationPath(derivation)}>{derivation}</Link> was edited
      </p>
      {was === null || wasText === undefined || isText === undefined ? (
        <p className="panel-faint">The earlier text of the file is not stored.</p>
      ) : (
        <>
          <p className="panel-faint">
            From <code title={was}>{shortHash(was)}</code> to <code title={is}>{shortHash(is)}</code>
          </p>
          {wasText === isText ? (
            <p className="panel-faint">Only the byte order mark changed.</p>
          ) : (
            <LineDiff was={wasText} is={isText} />
          )}
        </>
      )}
    </>
  )
}

interface FieldButtonProps {
  readonly contract: SheetContract
  readonly name: string
  readonly onSelect: (field: string) => void
}

/** A link to the cell of a field in the same record. */
export function FieldButton({ contract, name, onSelect }: FieldButtonProps) {
  const title = contract.titleOf(name)
  return (
    <button type="button" className="field-link" title={`Go to ${title}`} onClick={() => onSelect(name)}>
      {title}
    </button>
  )
}
