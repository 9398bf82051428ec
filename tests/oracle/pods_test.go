package oracle

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// failures are the ways in which a read fails. None is NotFound.
var failures = map[string]error{
	"internal":       apierrors.NewInternalError(errors.New("etcd")),
	"server_timeout": apierrors.NewServerTimeout(corev1.Resource("pods"), "get", 1),
}

// pods is the fake client with its Pods; it notes what is read and can fail.
type pods struct {
	client  client.Client
	read    []string
	failing map[string]error
}

// every is the key in failing of a failure of every read.
const every = "/"

func newPods() *pods {
	p := &pods{failing: map[string]error{}}
	p.client = fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{Get: p.get}).Build()
	return p
}

func (p *pods) get(ctx context.Context, c client.WithWatch, key client.ObjectKey,
	into client.Object, opts ...client.GetOption,
) error {
	p.read = append(p.read, key.String())
	for _, failing := range []string{every, key.String()} {
		if err := p.failing[failing]; err != nil {
			return err
		}
	}
	return c.Get(ctx, key, into, opts...)
}

// takeRead returns the Pods read since the last call, in order.
func (p *pods) takeRead() []string {
	read := p.read
	p.read = nil
	return read
}

// do creates a Pod that a finalizer holds, deletes it, lets it go, or sets how
// reads end.
func (p *pods) do(op expectationOp) error {
	ctx := context.Background()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: op.Namespace, Name: op.Pod, Finalizers: []string{"oracle.test/held"},
	}}
	switch op.Op {
	case "appear":
		return p.client.Create(ctx, pod)
	case "terminate":
		return p.client.Delete(ctx, pod)
	case "vanish":
		letGo := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		return errors.Join(p.client.Delete(ctx, pod.DeepCopy()), p.client.Patch(ctx, pod, letGo))
	case "fail":
		if failures[op.Error] == nil {
			return errors.New("there is no failure " + op.Error)
		}
		p.failing[op.podKey()] = failures[op.Error]
	case "recover":
		clear(p.failing)
	default:
		panic("unknown op " + op.Op)
	}
	return nil
}
