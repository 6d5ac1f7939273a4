import { useQuery } from '@tanstack/react-query'
import { Check, LayoutList } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import type { SheetContract } from '../api/contract.ts'
import { areSettingsOf, dropOwnSettings, useColumnSettings } from '../state/columns.ts'
import { useOpenView, VIEW_PARAMETER, viewsQuery } from '../state/saved-view.ts'
import { isSameList, listStateOf, type ViewState } from '../state/view-state.ts'
import { Button } from '../ui/button.tsx'
import { useCommands } from '../ui/command-menu.tsx'
import '../ui/menu.css'
import { NameDialog } from './name-dialog.tsx'
import { DeleteViewDialog } from './delete-view-dialog.tsx'
import { useSaveView } from './use-save-view.ts'
import './views-menu.css'

interface ViewsMenuProps {
  readonly contract: SheetContract
  readonly view: ViewState
}

type ViewDialog = 'save' | 'rename' | 'delete' | null

/** The menu of views: filters, sort orders and columns that are kept in the sheet under a name. */
export function ViewsMenu({ contract, view }: ViewsMenuProps) {
  const { id, saved, isPending } = useOpenView()
  const { data: views } = useQuery(viewsQuery)
  const [settings] = useColumnSettings(contract.name)
  const [dialog, setDialog] = useState<ViewDialog>(null)
  const [, goTo] = useLocation()
  const isChanged =
    saved !== null && (!isSameList(listStateOf(saved), view) || !areSettingsOf(saved, settings))
  const open = (wanted: string | null): void =>
    goTo(wanted === null ? '/' : `/?${new URLSearchParams({ [VIEW_PARAMETER]: wanted }).toString()}`)
  const saving = useSaveView({ sheet: contract.name, view, settings, onSaved: open })
  const discard = (): void => {
    if (saved === null) return
    dropOwnSettings(contract.name, saved.id)
    open(saved.id)
  }
  useCommands(
    'views',
    useMemo(
      () => [
        { group: 'Views', name: 'Save as a new view…', run: () => setTimeout(() => setDialog('save')) },
        ...(views ?? []).map((each) => ({
          group: 'Views',
          name: `Open the view ${each.name}`,
          run: () => goTo(`/?${new URLSearchParams({ [VIEW_PARAMETER]: each.id }).toString()}`),
        })),
      ],
      [views, goTo],
    ),
  )
  const label = id === null ? 'All records' : (saved?.name ?? (isPending ? '' : 'Deleted view'))
  return (
    <>
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger asChild>
          <Button look="quiet" icon={<LayoutList size={15} />} className="views-button">
            <span className="views-name">
              <span className="visually-hidden">View: </span>
              {label}
            </span>{' '}
            {isChanged && <span className="views-changed">changed</span>}
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" align="start" sideOffset={6} collisionPadding={8}>
            <DropdownMenu.RadioGroup
              value={id ?? ''}
              onValueChange={(wanted) => open(wanted === '' ? null : wanted)}
            >
              {[{ id: '', name: 'All records' }, ...(views ?? [])].map((each) => (
                <DropdownMenu.RadioItem key={each.id} value={each.id} className="menu-item views-item">
                  <DropdownMenu.ItemIndicator className="views-check">
                    <Check size={14} />
                  </DropdownMenu.ItemIndicator>
                  <span className="views-name">{each.name}</span>
                </DropdownMenu.RadioItem>
              ))}
            </DropdownMenu.RadioGroup>
            <DropdownMenu.Separator className="menu-line" />
            {saved !== null && (
              <>
                <DropdownMenu.Item
                  className="menu-item"
                  disabled={!isChanged}
                  onSelect={() => saving.save(saved.id, saved.name)}
                >
                  Save the changes to {saved.name}
                </DropdownMenu.Item>
                <DropdownMenu.Item className="menu-item" disabled={!isChanged} onSelect={discard}>
                  Discard the changes
                </DropdownMenu.Item>
              </>
            )}
            <DropdownMenu.Item className="menu-item" onSelect={() => setDialog('save')}>
              Save as a new view…
            </DropdownMenu.Item>
            {saved !== null && (
              <>
                <DropdownMenu.Item className="menu-item" onSelect={() => setDialog('rename')}>
                  Rename…
                </DropdownMenu.Item>
                <DropdownMenu.Item className="menu-item" onSelect={() => setDialog('delete')}>
                  Delete…
                </DropdownMenu.Item>
              </>
            )}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {dialog === 'save' && (
        <NameDialog
          title="Save as a new view"
          description="A view keeps the filter, the sort order and the columns, for everyone who opens this sheet."
          name=""
          onClose={() => setDialog(null)}
          onName={async (name) => saving.create(name)}
        />
      )}
      {dialog === 'rename' && saved !== null && (
        <NameDialog
          title={`Rename ${saved.name}`}
          description="Links to the view stay valid."
          name={saved.name}
          onClose={() => setDialog(null)}
          onName={async (name) => saving.rename(saved, name)}
        />
      )}
      {dialog === 'delete' && saved !== null && (
        <DeleteViewDialog
          view={saved}
          onClose={() => setDialog(null)}
          onDelete={async () => {
            await saving.remove(saved.id)
            open(null)
          }}
        />
      )}
    </>
  )
}
