package oracle

import (
	"crypto/sha1"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// expectationsBlob is the git blob of scale_expectations.go in KubeRay v1.7.0.
const expectationsBlob = "e71f9bee07df7a16bd6d047f31047cfe844fa562"

// The go.mod names v1.6.2. The model follows v1.7.0, and the package must be
// the same in both: this one file.
func TestTheExpectationsAreThoseOfV170(t *testing.T) {
	const pkg = "github.com/ray-project/kuberay/ray-operator/controllers/ray/expectations"
	files, err := exec.Command("go", "list", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, pkg).Output()
	must(t, err)
	compiled := strings.TrimSpace(string(files))
	source, err := os.ReadFile(compiled)
	must(t, err)
	blob := fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(source), source)))
	if blob != expectationsBlob {
		t.Errorf("%s is blob %s, not v1.7.0's %s", compiled, blob, expectationsBlob)
	}
}
