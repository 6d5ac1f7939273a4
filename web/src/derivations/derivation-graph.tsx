import { Maximize, Minimize } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type CSSProperties, type ReactNode } from 'react'
import type { DerivationAnswer } from '../../../src/wire/definition/derivations.ts'
import type { StatusAnswer } from '../../../src/wire/runs/status.ts'
import type { SheetContract } from '../api/contract.ts'
import { Button } from '../ui/button.tsx'
import './derivation-graph.css'
import { curveOf, layOut, type GraphNode, type GraphSizes } from './graph-layout.ts'
import { DerivationNode, FieldNode } from './graph-nodes.tsx'
import { fullSizeScale, wholeScale } from './graph-scale.ts'
import { useSize } from '../ui/use-size.ts'

const SIZES: GraphSizes = { field: 30, target: 52, derivation: 48, width: 176, gapX: 64, gapY: 12 }

interface DerivationGraphProps {
  readonly contract: SheetContract
  readonly derivations: readonly DerivationAnswer[]
  readonly status: StatusAnswer
  readonly selected: string | null
  /** Whether the definition may be changed. */
  readonly mayEdit: boolean
  readonly onSelect: (file: string) => void
  /** Buttons in the corner. */
  readonly children?: ReactNode
}

/** The graph of fields and derivations, left to right; for assistive technology, a list of the derivations. */
export function DerivationGraph({
  contract,
  derivations,
  status,
  selected,
  mayEdit,
  onSelect,
  children,
}: DerivationGraphProps) {
  const graph = useMemo(() => layOut(derivations, SIZES), [derivations])
  const [room, size] = useSize<HTMLDivElement>()
  const [isWhole, setIsWhole] = useState(false)
  const [pointed, setPointed] = useState<string | null>(null)
  const full = fullSizeScale(graph, size)
  const whole = wholeScale(graph, size)
  const scale = isWhole ? whole : full
  const lit = pointed ?? selected
  useScrollTo(room, selected, size.width)

  const byFile = new Map(derivations.map((each) => [each.file, each]))
  const position = ({ x, y, width, height }: GraphNode): CSSProperties => ({ left: x, top: y, width, height })
  return (
    <div className="graph">
      <div
        ref={room}
        className="graph-room"
        tabIndex={0}
        role="group"
        aria-label="Graph of fields and derivations"
      >
        <div className="graph-sheet" style={{ width: graph.width * scale, height: graph.height * scale }}>
          <div
            className="graph-drawing"
            style={{ width: graph.width, height: graph.height, transform: `scale(${scale})` }}
          >
            <svg width={graph.width} height={graph.height} aria-hidden="true">
              {graph.edges.map(({ derivation, field, kind, points }) => (
                <path
                  key={`${derivation} ${kind} ${field}`}
                  className={derivation === lit ? 'graph-edge lit' : 'graph-edge'}
                  d={curveOf(points)}
                />
              ))}
            </svg>
            <div aria-hidden="true">
              {graph.nodes
                .filter(({ kind }) => kind === 'field')
                .map((node) => (
                  <FieldNode
                    key={node.name}
                    name={node.name}
                    field={contract.fieldByName.get(node.name) ?? null}
                    counts={status[node.name] ?? null}
                    style={position(node)}
                    mayEdit={mayEdit}
                    onSelect={onSelect}
                  />
                ))}
            </div>
            <ul aria-label="Derivations">
              {graph.nodes.map((node) => {
                const derivation = node.kind === 'derivation' ? byFile.get(node.name) : undefined
                return (
                  derivation && (
                    <DerivationNode
                      key={node.name}
                      derivation={derivation}
                      status={status}
                      style={position(node)}
                      isSelected={node.name === selected}
                      onSelect={onSelect}
                      onPoint={setPointed}
                    />
                  )
                )
              })}
            </ul>
          </div>
        </div>
      </div>
      {children}
      {whole < full && (
        <Button
          className="graph-fit"
          icon={isWhole ? <Maximize size={14} /> : <Minimize size={14} />}
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? 'Full size' : 'Show all'}
        </Button>
      )}
    </div>
  )
}

/** Keeps the selected derivation in view, also when the panel opens and leaves less space. */
function useScrollTo(
  room: { readonly current: HTMLElement | null },
  selected: string | null,
  width: number,
): void {
  const isFirst = useRef(true)
  useEffect(() => {
    if (selected === null || width === 0) return
    const node = room.current?.querySelector('[aria-current="true"]')
    node?.scrollIntoView({
      block: 'nearest',
      inline: 'nearest',
      behavior: isFirst.current ? 'instant' : 'smooth',
    })
    isFirst.current = false
  }, [room, selected, width])
}
