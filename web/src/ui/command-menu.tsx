import { Command } from 'cmdk'
import { useEffect, useState, useSyncExternalStore, type ComponentType, type ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { SheetContract } from '../api/contract.ts'
import { cellPath, type CellRef } from '../state/view-state.ts'
import { THEMES, useTheme } from '../state/theme.ts'
import './command-menu.css'
import { DELETED_PAGE, PAGES } from './pages.ts'

/** A command of the command menu. */
export interface MenuCommand {
  /** A short imperative. */
  readonly name: string
  readonly group: string
  run(): void
}

/** The commands of the mounted components, by component. */
const offered = new Map<string, readonly MenuCommand[]>()
let all: readonly MenuCommand[] = []
let isOpen = false
const listeners = new Set<() => void>()

function changed(): void {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function setOpen(open: boolean): void {
  isOpen = open
  changed()
}

export function openCommandMenu(): void {
  setOpen(true)
}

/** Offers commands while the component is mounted. */
export function useCommands(from: string, commands: readonly MenuCommand[]): void {
  useEffect(() => {
    offered.set(from, commands)
    all = [...offered.values()].flat()
    changed()
    return () => {
      offered.delete(from)
      all = [...offered.values()].flat()
      changed()
    }
  }, [from, commands])
}

interface CommandMenuProps {
  readonly contract: SheetContract | null
  /** Lists the records with a text. */
  readonly records: ComponentType<{
    readonly contract: SheetContract
    readonly text: string
    readonly onChoose: (cell: CellRef) => void
  }>
}

/** The menu of pages, commands and records, opened by Ctrl+K. */
export function CommandMenu({ contract, records }: CommandMenuProps) {
  const open = useSyncExternalStore(subscribe, () => isOpen)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setOpen(!isOpen)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <Command.Dialog
      open={open}
      onOpenChange={setOpen}
      label="Commands"
      filter={wordsIn}
      className="command-menu"
      overlayClassName="dialog-overlay"
    >
      <MenuContents contract={contract} records={records} />
    </Command.Dialog>
  )
}

/** Rates a command: it must contain each word of the text, and is better if it begins with the text. */
function wordsIn(command: string, text: string): number {
  const [name, wanted] = [command.toLowerCase(), text.trim().toLowerCase()]
  if (!wanted.split(/\s+/).every((word) => name.includes(word))) return 0
  return name.startsWith(wanted) ? 1 : 0.5
}

/** The contents, mounted each time the menu is opened. */
function MenuContents({ contract, records: Records }: CommandMenuProps) {
  const commands = useSyncExternalStore(subscribe, () => all)
  const [text, setText] = useState('')
  const [, goTo] = useLocation()
  const [, setTheme] = useTheme()
  const groups = Map.groupBy(commands, ({ group }) => group)
  return (
    <>
      <Command.Input
        placeholder={`Search commands and records of ${contract?.name ?? 'the sheet'}`}
        value={text}
        onValueChange={setText}
      />
      <Command.List>
        <Command.Empty>No matching command</Command.Empty>
        {[...groups].map(([group, items]) => (
          <Command.Group key={group} heading={group}>
            {items.map(({ name, run }) => (
              <Item key={name} onSelect={run}>
                {name}
              </Item>
            ))}
          </Command.Group>
        ))}
        <Command.Group heading="Go to">
          {[...PAGES, DELETED_PAGE].map(({ path, name }) => (
            <Item key={path} onSelect={() => goTo(path)}>
              {name}
            </Item>
          ))}
        </Command.Group>
        <Command.Group heading="Theme">
          {THEMES.map((theme) => (
            <Item key={theme} onSelect={() => setTheme(theme)}>
              Use the {theme} theme
            </Item>
          ))}
        </Command.Group>
        {contract !== null && (
          <Records
            contract={contract}
            text={text}
            onChoose={(cell) => {
              setOpen(false)
              goTo(cellPath(cell, false))
            }}
          />
        )}
      </Command.List>
    </>
  )
}

function Item({ onSelect, children }: { readonly onSelect: () => void; readonly children: ReactNode }) {
  return (
    <Command.Item
      onSelect={() => {
        setOpen(false)
        onSelect()
      }}
    >
      {children}
    </Command.Item>
  )
}
