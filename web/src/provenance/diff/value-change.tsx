import { ArrowRight } from 'lucide-react'
import type { FieldType } from '../../api/contract.ts'
import { sameValue } from '../../values/same-value.ts'
import { CellValueView } from '../../values/cell-value-view.tsx'
import { diffPieces } from './diff.ts'
import { LineDiff, WordDiff } from './diff-view.tsx'
import { plainValue } from './full-value.tsx'

interface ValueChangeProps {
  readonly type: FieldType | null
  readonly was: unknown
  readonly is: unknown
}

/** The length from which changes of a text are shown word by word. */
const LONG_TEXT = 32

/** A value before and after a change. */
export function ValueChange({ type, was, is }: ValueChangeProps) {
  if (sameValue(was, is)) {
    return (
      <p className="value-change">
        <CellValueView type={type} value={is} />
        <span className="panel-faint">unchanged</span>
      </p>
    )
  }
  if (isText(was) && isText(is) && Math.max(was.length, is.length) >= LONG_TEXT) {
    return (
      <p className="value-change running">
        <WordDiff was={was} is={is} />
      </p>
    )
  }
  if (isList(was) && isList(is)) return <ListChange was={was} is={is} />
  if (isStructure(was) && isStructure(is)) return <LineDiff was={plainValue(was)} is={plainValue(is)} />
  return (
    <p className="value-change">
      <span className="value-was">
        <CellValueView type={type} value={was} />
      </span>
      <ArrowRight size={13} role="img" aria-label="changed to" />
      <span className="value-is">
        <CellValueView type={type} value={is} />
      </span>
    </p>
  )
}

/** The added and removed items of a list. */
function ListChange({ was, is }: { readonly was: readonly unknown[]; readonly is: readonly unknown[] }) {
  return (
    <p className="value-change list">
      {diffPieces(was.map(String), is.map(String)).map(({ is: kind, text }, index) => {
        const Element = ({ same: 'span', gone: 'del', new: 'ins' } as const)[kind]
        return (
          // oxlint-disable-next-line react/no-array-index-key
          <Element key={index} className="chip">
            {text}
          </Element>
        )
      })}
    </p>
  )
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isStructure(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every((item) => typeof item !== 'object')
}
