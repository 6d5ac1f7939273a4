import { Check, ChevronRight } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { APPEARANCES, type ColumnFormat } from '../../values/column-format.ts'
import { TIME_ZONE } from '../../values/format-value.ts'
import type { Column } from '../layout/column-layout.ts'
import type { Columns } from '../layout/use-columns.ts'

/** The offered numbers of decimals. */
const DECIMALS = [0, 1, 2, 3, 4]

const APPEARANCE_NAMES: Readonly<Record<(typeof APPEARANCES)[number], string>> = {
  plain: 'Plain text',
  image: 'Image',
  markdown: 'Markdown',
}

interface FormatItemsProps {
  readonly columns: Columns
  readonly column: Column
}

/** The submenu that sets how a column shows its values; absent where there is no choice. */
export function FormatItems({ columns, column }: FormatItemsProps) {
  const choices = choicesFor(column)
  if (choices.length === 0) return null
  return (
    <DropdownMenu.Sub>
      <DropdownMenu.SubTrigger className="menu-item">
        Format <ChevronRight className="menu-more" size={14} aria-hidden="true" />
      </DropdownMenu.SubTrigger>
      <DropdownMenu.Portal>
        <DropdownMenu.SubContent className="menu" sideOffset={4} collisionPadding={8}>
          {choices.map(({ label, isOn, change, isRadio }) => (
            <FormatItem
              key={label}
              isOn={isOn}
              isRadio={isRadio}
              onSelect={() => columns.format(column.field.name, change)}
            >
              {label}
            </FormatItem>
          ))}
        </DropdownMenu.SubContent>
      </DropdownMenu.Portal>
    </DropdownMenu.Sub>
  )
}

interface Choice {
  readonly label: string
  readonly isOn: boolean
  /** Whether it is one of several that exclude each other. */
  readonly isRadio: boolean
  readonly change: Parameters<Columns['format']>[1]
}

function choicesFor({ field, format }: Column): readonly Choice[] {
  switch (field.type) {
    case 'number':
      return [...decimalChoices(format), groupingChoice(format)]
    case 'integer':
      return [groupingChoice(format)]
    case 'timestamp':
      return [false, true].map((utc) => ({
        label: utc ? 'UTC' : `Local time (${TIME_ZONE})`,
        isOn: (format.utc ?? false) === utc,
        isRadio: true,
        change: { utc },
      }))
    case 'string':
      return field.values === null ? appearanceChoices(format) : []
    default:
      return []
  }
}

function decimalChoices({ decimals }: ColumnFormat): readonly Choice[] {
  return [undefined, ...DECIMALS].map((count) => ({
    label: count === undefined ? 'Decimals as stored' : `${count} ${count === 1 ? 'decimal' : 'decimals'}`,
    isOn: decimals === count,
    isRadio: true,
    change: { decimals: count },
  }))
}

function groupingChoice({ grouping = true }: ColumnFormat): Choice {
  return { label: 'Group digits: 1,234', isOn: grouping, isRadio: false, change: { grouping: !grouping } }
}

function appearanceChoices({ appearance }: ColumnFormat): readonly Choice[] {
  return [undefined, ...APPEARANCES].map((each) => ({
    label: each === undefined ? 'Text with links' : APPEARANCE_NAMES[each],
    isOn: appearance === each,
    isRadio: true,
    change: { appearance: each },
  }))
}

interface FormatItemProps {
  readonly isOn: boolean
  readonly isRadio: boolean
  readonly onSelect: () => void
  readonly children: ReactNode
}

/** A choice that leaves the menu open, so that its effect is seen. */
function FormatItem({ isOn, isRadio, onSelect, children }: FormatItemProps) {
  return (
    <DropdownMenu.Item
      className="menu-item"
      role={isRadio ? 'menuitemradio' : 'menuitemcheckbox'}
      aria-checked={isOn}
      onSelect={(event) => {
        event.preventDefault()
        onSelect()
      }}
    >
      <span className="menu-check">{isOn && <Check size={14} aria-hidden="true" />}</span>
      {children}
    </DropdownMenu.Item>
  )
}
