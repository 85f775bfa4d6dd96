import { useWords } from "../../i18n/words";
import { ForOperators } from "../../parts/reach";
import { Page } from "../../parts/Page";
import { Welcome } from "./Welcome";
import { words } from "./words";

/** The ways to begin, for who wants to connect another agent later. */
export function WelcomePage() {
  const { w } = useWords(words);
  return (
    <Page title={w("agent.title")}>
      <ForOperators of="server">
        <Welcome />
      </ForOperators>
    </Page>
  );
}
