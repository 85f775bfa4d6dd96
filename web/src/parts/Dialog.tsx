import { lazy, type ReactNode } from "react";
import { OnDemand } from "./OnDemand";

export interface DialogProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  lead?: ReactNode;
  children?: ReactNode;
  footer?: ReactNode;
  width?: string;
}

/** Load what all dialogs need, so that the first one opens at once. */
export const loadDialogs = () => import("./DialogWindow");

const DialogWindow = lazy(async () => ({ default: (await loadDialogs()).DialogWindow }));

/** A dialog over the page: what it is about, its content, and its buttons. */
export function Dialog(props: DialogProps) {
  return (
    <OnDemand isWanted={props.isOpen}>
      <DialogWindow {...props} />
    </OnDemand>
  );
}
